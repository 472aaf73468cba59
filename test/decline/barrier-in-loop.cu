// A loop that carries shared data from one round to the next.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; barrier-in-loop

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += s[(threadIdx.x * 5 + 3) % 128];
    __syncthreads();
    s[threadIdx.x] = in[g + i * 128];
    __syncthreads();
  }
  out[g] = sum;
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
