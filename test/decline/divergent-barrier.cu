// A barrier that some threads never reach.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; divergent-barrier (the condition 'threadIdx.x < 64' holds for some threads of a block and not for others: as written its behaviour is undefined)

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  __syncthreads();
  if (threadIdx.x < 64) {
    __syncthreads();
    out[g] = s[127 - threadIdx.x];
  }
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
