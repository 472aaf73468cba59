// Elements are read before any is written.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; not-staged

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  out[g] = s[threadIdx.x];
  __syncthreads();
  s[threadIdx.x] = in[g];
  __syncthreads();
  out[g] += s[(threadIdx.x * 5 + 3) % 128];
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
