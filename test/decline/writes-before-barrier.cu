// Global memory is written before the staged data is read.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; writes-before-barrier

__global__ void k(float *in, float *out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  in[g] = 0;
  __syncthreads();
  out[g] = s[127 - threadIdx.x];
}

void run(float *in, float *out, int n) { k<<<n / 128, 128>>>(in, out, n); }
