// A loop with barriers that all threads leave together is no divergent barrier.
// Time steps: a warp owns the tile, in words without the break. A loop that only
// counts: the statement.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: rewritten steps: t, u; {{.*}}'t' owned by a warp; 'u' owned by a warp
// CHECK: declined counted; unsupported-statement (a break or continue in a loop with barriers, alike for all threads)
// CHECK: declined diverges; divergent-barrier

__global__ void steps(const float *__restrict__ in, float *__restrict__ out, int rounds) {
  __shared__ float t[64], u[64];
  int g = blockIdx.x * 64 + threadIdx.x;
  t[threadIdx.x] = in[g];
  __syncthreads();
  for (int i = 0; i < rounds; ++i) {
    if (threadIdx.x > i && threadIdx.x < 63 - i)
      u[threadIdx.x] = t[threadIdx.x - 1] + t[threadIdx.x + 1];
    __syncthreads();
    if (i == rounds - 1)
      break;
    if (threadIdx.x > i && threadIdx.x < 63 - i)
      t[threadIdx.x] = u[threadIdx.x];
    __syncthreads();
  }
  out[g] = u[threadIdx.x];
}

__global__ void counted(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[64];
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    if (i * 64 > n)
      break;
    __syncthreads();
    s[threadIdx.x] = in[i * 64 + threadIdx.x];
    __syncthreads();
    sum += s[63 - threadIdx.x];
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

__global__ void diverges(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[64];
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    if (i * 64 + threadIdx.x > n)
      break;
    __syncthreads();
    s[threadIdx.x] = in[i * 64 + threadIdx.x];
    __syncthreads();
    sum += s[63 - threadIdx.x];
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

void run(const float *in, float *out, int n) {
  steps<<<n, 64>>>(in, out, 3);
  counted<<<10, 64>>>(in, out, n);
  diverges<<<10, 64>>>(in, out, n);
}
