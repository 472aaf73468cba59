// Registers would need the loop unrolled, and its barriers with it.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; window-too-large

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[160];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += s[threadIdx.x + i];
    __syncthreads();
  }
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
