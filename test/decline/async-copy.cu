// An asynchronous copy hides its cost already.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; async-copy

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  __pipeline_memcpy_async(&s[threadIdx.x], &in[g], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[g] = s[127 - threadIdx.x];
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
