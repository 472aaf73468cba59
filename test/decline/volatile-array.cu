// Each access of a volatile array happens as written, where threads set the same element
// without a barrier in between.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; volatile-array

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  volatile __shared__ float s[64];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x / 2] = in[g / 2];
  __syncthreads();
  out[g] = s[63 - threadIdx.x / 2];
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
