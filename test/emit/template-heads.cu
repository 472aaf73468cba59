// Template heads whose last angle is a part of `>>` or `>>>`.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
// RUN: %compile -std=c++17 -I%S/Inputs -c %t.cu -o %t.o
//
// CHECK: rewrote 'two<int, Op<int>>'
// CHECK: rewrote 'three<int, Op<Of<int>>>'
// SAME: equivalent: 2 launches {{.*}}; 2 by a rewritten kernel
#include "program.h"

template <class T> struct Of { using Type = T; };
template <class T> struct Op {
  template <class V> __device__ V operator()(V a, V b) const { return a + b; }
};

template <class T, class F = Op<T>> __global__ void two(const T *in, T *out, int n, F f) {
  __shared__ T s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = g < n ? in[g] : T(0);
  __syncthreads();
  if (g < n)
    out[g] = f(s[63 - t], s[t]);
}

template <class T, class F = Op<Of<T>>>
__global__ void three(const T *in, T *out, int n, F f) {
  __shared__ T s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = g < n ? in[g] : T(0);
  __syncthreads();
  if (g < n)
    out[g] = f(s[63 - t], s[t]);
}

int main() {
  const int n = 1000;
  Buffer<int> in(randoms<int>(n)), out(n);
  two<int><<<blocks(n, 64), 64>>>(in.Data, out.Data, n, Op<int>());
  out.show("two");
  three<int><<<blocks(n, 64), 64>>>(in.Data, out.Data, n, Op<Of<int>>());
  out.show("three");
}
