// Each round of a loop that the threads share out is run by one of them, and what it
// stages hangs on which one that is.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; ambiguous-staging

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[256];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    s[i] = in[i + threadIdx.x];
  __syncthreads();
  out[g] = s[127 - threadIdx.x];
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
