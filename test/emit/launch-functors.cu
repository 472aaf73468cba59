// Kernels whose template argument has no name: told apart where they are the same.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck --input-file=%t.remarks %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %compile -extended-lambda -std=c++17 -I%S/Inputs -c %t.cu -o %t.o
// RUN: FileCheck --check-prefix=TEXT --input-file=%t.cu %s
// CHECK: rewrote {{.*}}fun<
// TEXT-NOT: lambda{{ }}at
//
#include "sum3.h"
template <typename F> __global__ void fun(const float *in, float *out, int n, F f) { 
  __shared__ float s[257]; const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0; if (t == 255) s[256] = g + 1 < n ? in[g + 1] : 0; __syncthreads(); if (g < n) out[g] = f(s[t]) + s[t + 1]; }
struct Twice { __device__ float operator()(float x) const { return 2 * x; } };
int main() {
  const int n = 5000; Buffer<float> a(randoms<float>(n)), b(n);
  fun<<<20, 256>>>(a.Data, b.Data, n, [] __device__(float x) { return 2 * x; }); b.show("l1");
  float w = 3; fun<<<20, 256>>>(a.Data, b.Data, n, [=] __device__(float x) { return w * x; }); b.show("l2");
  fun<<<20, 256>>>(a.Data, b.Data, n, Twice()); b.show("l3");
}
