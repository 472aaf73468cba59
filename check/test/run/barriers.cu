// REQUIRES: cuda-toolkit
// RUN: %check run %s | FileCheck %s
// RUN: %check run %s --schedule=reverse | FileCheck %s
// RUN: %check run %s --schedule=random:7 | FileCheck %s
// Barriers with a result, named barriers, __syncwarp, a tree reduction with and
// without its volatile tail, threads that exit before a barrier.
#include <cstdio>

__global__ void counting(int *o) {
  o[threadIdx.x * 3] = __syncthreads_count(threadIdx.x % 3 == 0);
  o[threadIdx.x * 3 + 1] = __syncthreads_and(threadIdx.x < 100);
  o[threadIdx.x * 3 + 2] = __syncthreads_or(threadIdx.x == 99);
}

__global__ void tree(const int *in, int *out) {
  __shared__ int s[256];
  s[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int h = 128; h > 16; h /= 2) {
    if (threadIdx.x < h)
      s[threadIdx.x] += s[threadIdx.x + h];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    for (int h = 16; h; h /= 2) {
      int v = s[threadIdx.x + h];
      __syncwarp();
      s[threadIdx.x] += v;
      __syncwarp();
    }
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = s[0];
}

__global__ void legacyTree(const int *in, int *out) {
  __shared__ int s[128];
  s[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 64)
    s[threadIdx.x] += s[threadIdx.x + 64];
  __syncthreads();
  if (threadIdx.x < 32) {
    volatile int *v = s;
    v[threadIdx.x] += v[threadIdx.x + 32];
    v[threadIdx.x] += v[threadIdx.x + 16];
    v[threadIdx.x] += v[threadIdx.x + 8];
    v[threadIdx.x] += v[threadIdx.x + 4];
    v[threadIdx.x] += v[threadIdx.x + 2];
    v[threadIdx.x] += v[threadIdx.x + 1];
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = s[0];
}

__global__ void early(int *o) {
  __shared__ int s[64];
  if (threadIdx.x >= 40)
    return;
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  o[threadIdx.x] = s[39 - threadIdx.x];
}

__global__ void dynamicShared(int *o, int n) {
  extern __shared__ int s[];
  int *second = s + blockDim.x;
  s[threadIdx.x] = threadIdx.x;
  second[threadIdx.x] = n;
  __syncthreads();
  o[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x] + second[0];
}

int main() {
  static int h[4096], r[512];
  int *d, *e, sum = 0;
  cudaMalloc(&d, sizeof(h));
  cudaMalloc(&e, sizeof(r));
  counting<<<1, 100>>>(e);
  cudaMemcpy(r, e, 1200, cudaMemcpyDeviceToHost);
  printf("%d %d %d\n", r[0], r[1], r[299]);
  // CHECK: 34 1 1
  for (int i = 0; i < 4096; ++i)
    sum += h[i] = i * 7 % 13;
  cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice);
  tree<<<16, 256>>>(d, e);
  cudaMemcpy(r, e, sizeof(int) * 16, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 16; ++i)
    sum -= r[i];
  printf("tree: %d\n", sum);
  // CHECK: tree: 0
  legacyTree<<<32, 128>>>(d, e);
  cudaMemcpy(r, e, sizeof(int) * 32, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 4096; ++i)
    sum += h[i];
  for (int i = 0; i < 32; ++i)
    sum -= r[i];
  printf("legacy: %d\n", sum);
  // CHECK: legacy: 0
  early<<<1, 64>>>(e);
  cudaMemcpy(r, e, 160, cudaMemcpyDeviceToHost);
  printf("early: %d %d\n", r[0], r[39]);
  // CHECK: early: 39 0
  dynamicShared<<<1, 96, 96 * 8>>>(e, 1000);
  cudaMemcpy(r, e, 96 * 4, cudaMemcpyDeviceToHost);
  printf("dynamic: %d %d\n", r[0], r[95]);
  // CHECK: dynamic: 1095 1000
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  // CHECK: no error
}
