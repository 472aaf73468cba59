// What a variable gets in braces is its value: bounds, indices, counters, sums.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --self-check=off -o %t.cu --cuda-path=%cuda -- -std=c++17 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -std=c++17
// CHECK-DAG: rewrote 'counter' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'place' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'kept' {{.*}}'s' in chunks of 4, shuffled
#include <cstdio>
#include <cuda_runtime.h>

__global__ void counter(const int *__restrict__ a, int *__restrict__ o, int n) {
  __shared__ int s[132];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int i{t}; i < 132; i += 128) {
    int q = (int)blockIdx.x * 128 + i;
    s[i] = q < n ? a[q] : 0;
  }
  __syncthreads();
  if (g < n)
    o[g] = s[t] + s[t + 1] - s[t + 4];
}

__global__ void place(const int *__restrict__ a, int *__restrict__ o, int n) {
  __shared__ int s[132];
  const int t{(int)threadIdx.x}, g{(int)(blockIdx.x * 128) + t};
  for (auto i = t; i < 132; i += 128) {
    const int q{int(blockIdx.x) * 128 + i};
    s[i] = q < n ? a[q] : int{};
  }
  __syncthreads();
  if (g < n)
    o[g] = s[t] + s[t + 1] - s[t + 4];
}

// Products in braces, and values that live across a barrier.
__global__ void kept(const float *__restrict__ a, float *__restrict__ o, float w, int n) {
  __shared__ float s[132];
  const int t{(int)threadIdx.x}, g{(int)(blockIdx.x * 128) + t};
  const float x{g < n ? a[g] : 0.f};
  for (int i = t; i < 132; i += 128) {
    const int q{int(blockIdx.x) * 128 + i};
    s[i] = float{q < n ? a[q] * 2.f : 0.f};
  }
  __syncthreads();
  float y{s[t + 1] * w};
  float z{y + x};
  for (int k{0}; k < 3; ++k)
    z += float{s[t + k] * 0.5f};
  if (g < n)
    o[g] = z;
}

int main() {
  const int n = 1000;
  float *a, *o;
  cudaMallocManaged(&a, n * 4);
  cudaMallocManaged(&o, n * 4);
  for (int m : {1, 127, 128, 129, 1000}) {
    for (int i = 0; i < n; ++i)
      ((int *)a)[i] = i * 37 % 401;
    counter<<<(m + 127) / 128, 128>>>((const int *)a, (int *)o, m);
    place<<<(m + 127) / 128, 128>>>((const int *)a, (int *)o, m);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; ++i)
      a[i] = float(i * 37 % 401) * 0.37f;
    kept<<<(m + 127) / 128, 128>>>(a, o, 0.3f, m);
    cudaDeviceSynchronize();
    printf("%g\n", o[0]);
  }
}
