// RUN: %rewrite %s -q --list --candidate=99 -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; no-candidate

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[130];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  if (threadIdx.x < 2)
    s[threadIdx.x + 128] = in[g + 128];
  __syncthreads();
  out[g] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
