// The address of the array is kept in a variable that others can read.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; escaping-array

__device__ float *hidden;
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  __syncthreads();
  hidden = s;
  out[g] = s[127 - threadIdx.x];
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
