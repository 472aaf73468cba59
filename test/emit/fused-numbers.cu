// Infinities are numbers, and an operator that only adds has no product: nothing here hangs on what is fused.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// CHECK-NOT: fusion-unsettled
// CHECK-DAG: rewrote 'above'
// CHECK-DAG: rewrote 'scanned<{{.*}}Plus>'
// CHECK-DAG: rewrote 'scanned<{{.*}}Times>'
// CHECK-NOT: fusion-unsettled
#include "program.h"
#include <cmath>

__global__ void above(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  float v = g < n ? in[g] : INFINITY;
  s[t] = v;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d)
      s[t] = fminf(s[t], s[t + d]);
    __syncthreads();
  }
  if (g < n)
    out[g] = v - s[0];
}

struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Times {
  __device__ float operator()(float a, float b) const { return a * b; }
};
template <class Op> __global__ void scanned(const float *in, float *out, Op op, float first) {
  __shared__ float s[2][128];
  int t = threadIdx.x, b = 0;
  s[0][t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  for (int i = 0; i < 7; ++i) {
    int d = 1 << i;
    s[b ^ 1][t] = op(s[b][t], t >= d ? s[b][t - d] : first);
    b ^= 1;
    __syncthreads();
  }
  out[blockIdx.x * 128 + t] = s[b][t];
}

int main() {
  const int N = 2560;
  Buffer<float> in(randoms<float>(N)), out(N);
  above<<<N / 256, 256>>>(in.Data, out.Data, N - 70);
  out.show("above");
  scanned<<<N / 128, 128>>>(in.Data, out.Data, Plus(), 0.f);
  out.show("plus");
  scanned<<<N / 128, 128>>>(in.Data, out.Data, Times(), 1.f);
  out.show("times");
}
