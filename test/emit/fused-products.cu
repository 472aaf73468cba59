// A sum of two products can be fused in two ways; a product that serves two
// outputs must not change which one is taken.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu
// RUN: sed -e 's/asm("" : "+[fd]"(x) : "r"(slot));//' %t.cu > %t.shared.cu
// RUN: not rcache-check diff %s %t.shared.cu
// RUN: %if slow %{ %nvcc -std=c++17 -Werror all-warnings -Xptxas -v -cubin %t.cu -o %t.cubin %}
// RUN: %clang-cuda -std=c++17 -c %t.cu -o %t.o2
//
// CHECK-DAG: rewrote 'taps'
// CHECK-DAG: rewrote 'squares'
// CHECK-DAG: rewrote 'called'
// TEXT: rcache::device::apart(
//
#include <cstdio>
#include <cstring>
#include <vector>
#define N (1 << 20)
__global__ void taps(const float *__restrict__ a, float *__restrict__ b, int n) {
  __shared__ float s[258];
  int g = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x + 1] = g < n ? a[g] : 0.f;
  if (threadIdx.x == 0) s[0] = g > 0 ? a[g - 1] : 0.f;
  if (threadIdx.x == 255) s[257] = g + 1 < n ? a[g + 1] : 0.f;
  __syncthreads();
  if (g < n) b[g] = 0.3f * s[threadIdx.x] + 0.4f * s[threadIdx.x + 1] + 0.3f * s[threadIdx.x + 2];
}
__global__ void squares(const float *__restrict__ a, float *__restrict__ b, int n) {
  __shared__ float s[258];
  int g = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x + 1] = g < n ? a[g] : 0.f;
  if (threadIdx.x == 0) s[0] = g > 0 ? a[g - 1] : 0.f;
  if (threadIdx.x == 255) s[257] = g + 1 < n ? a[g + 1] : 0.f;
  __syncthreads();
  if (g < n) b[g] = s[threadIdx.x] * s[threadIdx.x] + s[threadIdx.x + 1] * s[threadIdx.x + 1] - s[threadIdx.x + 2] * s[threadIdx.x + 2];
}
__device__ float length2(float x, float y) { return x * x + y * y; }
__global__ void called(const float *__restrict__ a, float *__restrict__ b, int n) {
  __shared__ float s[257];
  int g = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = g < n ? a[g] : 0.f;
  if (threadIdx.x == 255) s[256] = g + 1 < n ? a[g + 1] : 0.f;
  __syncthreads();
  if (g < n) b[g] = length2(s[threadIdx.x], s[threadIdx.x + 1]);
}
int main() {
  const int n = 5000;
  std::vector<float> h(n);
  unsigned x = 1;
  for (auto &v : h) { x = x * 1664525u + 1013904223u; v = float(int(x >> 8) - (1 << 23)) * 1.1920929e-7f; }
  float *a, *b;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
  taps<<<(n + 255) / 256, 256>>>(a, b, n);
  squares<<<(n + 255) / 256, 256>>>(a, b, n);
  called<<<(n + 255) / 256, 256>>>(a, b, n);
  return cudaDeviceSynchronize();
}
