// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the prototypes share: checked calls, medians of event timings, a
// bit-for-bit comparison on the device, and one CSV line a measurement.

#ifndef RCACHE_BENCH_PROTOTYPE_COMMON_CUH
#define RCACHE_BENCH_PROTOTYPE_COMMON_CUH

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t e_ = (call);                                                   \
    if (e_ != cudaSuccess) {                                                   \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,       \
                   cudaGetErrorString(e_));                                    \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

namespace bench {

/// Median time of one launch in milliseconds, after warm-up.
template <class F> float medianMs(F launch, int repeats = 15) {
  cudaEvent_t a, b;
  CHECK(cudaEventCreate(&a));
  CHECK(cudaEventCreate(&b));
  for (int i = 0; i < 3; ++i)
    launch();
  CHECK(cudaGetLastError());
  std::vector<float> t;
  for (int i = 0; i < repeats; ++i) {
    CHECK(cudaEventRecord(a));
    launch();
    CHECK(cudaEventRecord(b));
    CHECK(cudaEventSynchronize(b));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, a, b));
    t.push_back(ms);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaEventDestroy(a));
  CHECK(cudaEventDestroy(b));
  std::sort(t.begin(), t.end());
  return t[t.size() / 2];
}

static __global__ void countDifferences(const unsigned *a, const unsigned *b,
                                        size_t n, unsigned long long *count) {
  unsigned long long mine = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x)
    mine += a[i] != b[i];
  if (mine)
    atomicAdd(count, mine);
}

/// How many of n 4-byte words differ.
inline unsigned long long differences(const void *a, const void *b, size_t n) {
  static unsigned long long *d = nullptr;
  if (!d)
    CHECK(cudaMalloc(&d, sizeof *d));
  CHECK(cudaMemset(d, 0, sizeof *d));
  countDifferences<<<1024, 256>>>(static_cast<const unsigned *>(a),
                                  static_cast<const unsigned *>(b), n, d);
  unsigned long long h = 0;
  CHECK(cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost));
  return h;
}

static __global__ void fillRandom(float *a, size_t n, unsigned seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x) {
    unsigned x = unsigned(i) * 2654435761u + seed;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    a[i] = float(int(x)) * (1.0f / 2147483648.0f);
  }
}
static __global__ void fillRandom(int *a, size_t n, unsigned seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
       i += size_t(gridDim.x) * blockDim.x) {
    unsigned x = unsigned(i) * 2654435761u + seed;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    a[i] = int(x);
  }
}

static __global__ void copyVectors(const float4 *a, float4 *b, size_t n) {
  const size_t i = blockIdx.x * size_t(blockDim.x) * 2 + threadIdx.x;
  const size_t j = i + blockDim.x;
  float4 x, y;
  if (i < n)
    x = a[i];
  if (j < n)
    y = a[j];
  if (i < n)
    b[i] = x;
  if (j < n)
    b[j] = y;
}

/// Best measured copy of n floats, in milliseconds.
inline float bestCopyMs(const void *a, void *b, size_t n) {
  float best = medianMs(
      [&] { CHECK(cudaMemcpyAsync(b, a, n * 4, cudaMemcpyDeviceToDevice)); });
  for (int t : {128, 256, 512}) {
    const size_t v = n / 4;
    best = std::min(best, medianMs([&] {
                      copyVectors<<<unsigned((v + 2 * t - 1) / (2 * t)), t>>>(
                          static_cast<const float4 *>(a),
                          static_cast<float4 *>(b), v);
                    }));
  }
  return best;
}

} // namespace bench

#endif
