// A thread stores to two places of one array: as vectors where no two threads of a block
// share an element of both, one by one where the order counts.
//
// RUN: rcache-rewrite %s --force --distribution=chunked --coarsen=4 -o %t.cu -q -- -I%S/Inputs
// RUN: FileCheck %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// REQUIRES: cuda-toolkit, rcache-check
#include "program.h"

// CHECK-LABEL: {{^static __global__ void apart_rc[(]}}
// CHECK: float rc_out_{{v0[[]}}4];
// CHECK: float rc_out_{{v1[[]}}4];
__global__ void apart(const float *in, float *out, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, b = blockIdx.x * 256;
  s[t + 1] = in[b + t];
  if (t == 0) {
    s[0] = 0;
    s[129] = 1;
  }
  __syncthreads();
  out[b + t] = s[t] + s[t + 1];
  out[b + t + 128] = s[t + 1] + s[t + 2];
}

// CHECK-LABEL: {{^static __global__ void again_rc[(]}}
// CHECK-NOT: rc_out_{{v[0-9]}}
__global__ void again(const float *in, float *out, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, b = blockIdx.x * 128;
  s[t + 1] = in[b + t];
  if (t == 0) {
    s[0] = 0;
    s[129] = 1;
  }
  __syncthreads();
  out[b + t] = s[t] + s[t + 1];
  if (s[t + 2] > 3)
    out[b + t] = s[t + 1] + s[t + 2];
}

// The distance is an argument: it may be less than a block.
// CHECK-LABEL: {{^static __global__ void further_rc[(]}}
// CHECK-NOT: rc_out_{{v[0-9]}}
__global__ void further(const float *in, float *out, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, b = blockIdx.x * 128;
  s[t + 1] = in[b + t];
  if (t == 0) {
    s[0] = 0;
    s[129] = 1;
  }
  __syncthreads();
  out[b + t] = s[t] + s[t + 1];
  out[b + t + n] = s[t + 1] + s[t + 2];
}

int main() {
  const int n = 128 * 40;
  Buffer<float> in(randoms<float>(2 * n)), out(2 * n);
  apart<<<n / 128, 128>>>(in.Data, out.Data, n);
  out.show("apart");
  again<<<n / 128, 128>>>(in.Data, out.Data, n);
  out.show("again");
  further<<<n / 128, 128>>>(in.Data, out.Data, n);
  out.show("further");
}
