// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of constants, by hand in five places: each thread's own (as nvcc keeps it), static
// const, __constant__, one copy in a block's shared memory, and a copy for each thread there.
// Lanes read alike, apart, or near each other; 32 reads beside 33 words of memory.
// nvcc -O3 -std=c++17 -arch=sm_90 tables.cu -o tables && ./tables
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

#define V4(x) (x) + .5f, (x) + 2, (x) + 7, (x) + 1
#define V8(x) V4(x), V4(x + 9)
#define V16(x) V8(x), V8(x + 3)
#define V32(x) V16(x), V16(x + 5)
#define V64(x) V32(x), V32(x + 11)
#define V97(x) V64(x), V32(x + 2), 3
#define V256(x) V64(x), V64(x + 1), V64(x + 2), V64(x + 3)

constexpr int Threads = 128, N = 1 << 20, Reads = 32;

#define LOOP(READ)                                                                                 \
  const int g = blockIdx.x * blockDim.x + threadIdx.x;                                             \
  float s = 0;                                                                                     \
  for (int i = 0; i < Reads; ++i) {                                                                \
    const unsigned k = (unsigned)x[g + i * N] % Size;                                              \
    s += READ;                                                                                     \
  }                                                                                                \
  out[g] = s;

#define TABLES(SIZE)                                                                               \
  __constant__ float constant##SIZE[SIZE] = {V##SIZE(1)};                                          \
  __device__ const float device##SIZE[SIZE] = {V##SIZE(1)};                                        \
  __global__ void own_##SIZE(const int *x, float *out) {                                           \
    constexpr unsigned Size = SIZE;                                                                \
    const float t[SIZE] = {V##SIZE(1)};                                                            \
    LOOP(t[k])                                                                                     \
  }                                                                                                \
  __global__ void static_##SIZE(const int *x, float *out) {                                        \
    constexpr unsigned Size = SIZE;                                                                \
    static const float t[SIZE] = {V##SIZE(1)};                                                     \
    LOOP(t[k])                                                                                     \
  }                                                                                                \
  __global__ void constant_##SIZE(const int *x, float *out) {                                      \
    constexpr unsigned Size = SIZE;                                                                \
    LOOP(constant##SIZE[k])                                                                        \
  }                                                                                                \
  __global__ void shared_##SIZE(const int *x, float *out) {                                        \
    constexpr unsigned Size = SIZE;                                                                \
    __shared__ float t[SIZE];                                                                      \
    for (unsigned i = threadIdx.x; i < Size; i += Threads)                                         \
      t[i] = device##SIZE[i];                                                                      \
    __syncthreads();                                                                               \
    LOOP(t[k])                                                                                     \
  }                                                                                                \
  __global__ void apart_##SIZE(const int *x, float *out) {                                         \
    constexpr unsigned Size = SIZE;                                                                \
    extern __shared__ float memory[];                                                                 \
    float(*const t)[Threads] = reinterpret_cast<float(*)[Threads]>(memory);                           \
    for (unsigned i = 0; i < Size; ++i)                                                            \
      t[i][threadIdx.x] = device##SIZE[i];                                                         \
    LOOP(t[k][threadIdx.x])                                                                        \
  }

TABLES(8)
TABLES(16)
TABLES(32)
TABLES(64)
TABLES(97)
TABLES(256)

template <class Kernel>
static double time(Kernel kernel, size_t shared, const int *x, float *out) {
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared));
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  std::vector<float> all;
  for (int i = 0; i < 9; ++i) {
    float ms = 0;
    cudaEventRecord(begin);
    kernel<<<N / Threads, Threads, shared>>>(x, out);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    all.push_back(ms);
  }
  std::sort(all.begin(), all.end());
  return cudaGetLastError() == cudaSuccess ? 1000 * all[4] : 0;
}

int main() {
  int *x;
  float *out;
  cudaMalloc(&x, sizeof(int) * N * Reads);
  cudaMalloc(&out, sizeof(float) * N);
  std::vector<int> h(size_t(N) * Reads);
  std::printf("lanes   floats       own    static  __constant__   shared   a copy each (microseconds)\n");
  for (const char *how : {"alike", "apart", "near"}) {
    unsigned state = 12345;
    for (size_t i = 0; i < h.size(); ++i) {
      state = state * 1664525u + 1013904223u;
      h[i] = how[1] == 'l' ? int(i / N * 3 + 1) : how[1] == 'p' ? int(state >> 8) : int(state >> 8) % 3 + int(i / N);
    }
    cudaMemcpy(x, h.data(), h.size() * sizeof(int), cudaMemcpyHostToDevice);
#define ROW(SIZE)                                                                                  \
  std::printf("%-7s %6d  %8.1f  %8.1f  %12.1f  %7.1f  %12.1f\n", how, SIZE, time(own_##SIZE, 0, x, out), \
              time(static_##SIZE, 0, x, out), time(constant_##SIZE, 0, x, out),                    \
              time(shared_##SIZE, 0, x, out), time(apart_##SIZE, SIZE * Threads * 4, x, out));
    ROW(8)
    ROW(16)
    ROW(32)
    ROW(64)
    ROW(97)
    ROW(256)
  }
}
