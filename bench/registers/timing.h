// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times a launch and tells the bits of what it leaves: median of rounds, FNV hash.

#ifndef REGISTERS_TIMING_H
#define REGISTERS_TIMING_H

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void check(cudaError_t e, const char *what) {
  if (e == cudaSuccess)
    return;
  std::printf("FAILED %s: %s\n", what, cudaGetErrorString(e));
  std::exit(1);
}

__global__ void fillFloat(float *p, size_t n, unsigned seed, float low, float high) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    unsigned x = unsigned(i) * 2654435761u + seed;
    x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
    p[i] = low + (high - low) * (float(x >> 8) * (1.0f / 16777216.0f));
  }
}

__global__ void fillDouble(double *p, size_t n, unsigned seed, double low, double high) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    unsigned x = unsigned(i) * 2654435761u + seed;
    x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
    p[i] = low + (high - low) * (double(x) / 4294967296.0);
  }
}

__global__ void fillInt(unsigned *p, size_t n, unsigned seed, unsigned below) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    unsigned x = unsigned(i) * 2654435761u + seed;
    x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16;
    p[i] = below ? x % below : x;
  }
}

inline float *floats(size_t n, unsigned seed, float low = 0.0f, float high = 1.0f) {
  float *p;
  check(cudaMalloc(&p, n * sizeof(float)), "cudaMalloc");
  fillFloat<<<1024, 256>>>(p, n, seed, low, high);
  return p;
}

inline double *doubles(size_t n, unsigned seed, double low = 0.0, double high = 1.0) {
  double *p;
  check(cudaMalloc(&p, n * sizeof(double)), "cudaMalloc");
  fillDouble<<<1024, 256>>>(p, n, seed, low, high);
  return p;
}

inline unsigned *ints(size_t n, unsigned seed, unsigned below = 0) {
  unsigned *p;
  check(cudaMalloc(&p, n * sizeof(unsigned)), "cudaMalloc");
  fillInt<<<1024, 256>>>(p, n, seed, below);
  return p;
}

/// `name milliseconds hash`: the hash is of what one launch leaves in \p out.
template <class Launch>
void report(const char *name, const void *out, size_t bytes, Launch launch) {
  launch();
  check(cudaDeviceSynchronize(), name);
  std::vector<unsigned char> host(bytes);
  check(cudaMemcpy(host.data(), out, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  uint64_t hash = 1469598103934665603ull;
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t word;
    __builtin_memcpy(&word, &host[i], 8);
    hash = (hash ^ word) * 1099511628211ull;
  }
  cudaEvent_t from, to;
  cudaEventCreate(&from);
  cudaEventCreate(&to);
  std::vector<float> times;
  for (int round = 0; round < 11; ++round) {
    cudaEventRecord(from);
    launch();
    launch();
    cudaEventRecord(to);
    check(cudaEventSynchronize(to), name);
    float ms = 0;
    cudaEventElapsedTime(&ms, from, to);
    times.push_back(ms / 2);
  }
  std::sort(times.begin(), times.end());
  std::printf("%s %.5f %016llx\n", name, times[times.size() / 2], (unsigned long long)hash);
}

#endif // REGISTERS_TIMING_H
