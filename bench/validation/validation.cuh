// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data, times and hashes for the programs beside it.

#ifndef RCACHE_BENCH_VALIDATION
#define RCACHE_BENCH_VALIDATION

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <string>
#include <vector>

namespace validation {

inline void check(cudaError_t e) {
  if (e == cudaSuccess)
    return;
  fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(e));
  exit(1);
}

// With `-s` a program runs its smallest size once, without times.
inline bool small_only = false;
inline void start(int argc, char **argv) {
  small_only = argc > 1 && !strcmp(argv[1], "-s");
}

// The sizes to run: those for a device, or the small one.
template <typename T>
std::vector<T> sizes(std::initializer_list<T> large, T small) {
  return small_only ? std::vector<T>{small} : std::vector<T>(large);
}
struct Extent {
  int x, y, z;
};
inline std::vector<Extent> extents(std::initializer_list<Extent> large,
                                   Extent small) {
  return sizes<Extent>(large, small);
}
inline std::string text(long long n) { return std::to_string(n); }
inline std::string text(const Extent &e) {
  std::string s = text(e.x) + "x" + text(e.y);
  return e.z > 1 ? s + "x" + text(e.z) : s;
}

__host__ __device__ inline unsigned long long mix(unsigned long long x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

template <typename T>
__global__ void fill_uniform(T *p, size_t n, unsigned long long seed, double lo,
                             double hi) {
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += step) {
    double u = (double)(mix(seed ^ (i * 2 + 1)) >> 40) / 16777216.0;
    p[i] = (T)(float)(lo + u * (hi - lo));
  }
}

static __global__ void hash_words(const unsigned char *p, size_t bytes,
                                  unsigned long long *sum) {
  size_t step = (size_t)gridDim.x * blockDim.x;
  unsigned long long h = 0;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i * 4 < bytes;
       i += step) {
    unsigned w = 0;
    for (int k = 0; k < 4; ++k)
      if (i * 4 + k < bytes)
        w |= (unsigned)p[i * 4 + k] << (8 * k);
    h += mix(((unsigned long long)w << 32) ^ mix(i));
  }
  atomicAdd(sum, h);
}

// n numbers in [lo, hi), the same in every run; integers are rounded down.
template <typename T>
T *filled(size_t n, unsigned seed, double lo = -1, double hi = 1) {
  T *p;
  check(cudaMalloc(&p, n * sizeof(T)));
  fill_uniform<<<small_only ? 2 : 2048, 256>>>(p, n, mix(seed), lo, hi);
  check(cudaGetLastError());
  return p;
}
template <typename T> T *zeros(size_t n) {
  T *p;
  check(cudaMalloc(&p, n * sizeof(T)));
  check(cudaMemset(p, 0, n * sizeof(T)));
  return p;
}
template <typename... T> void release(T *...p) { (check(cudaFree(p)), ...); }

struct Result {
  const void *p;
  size_t bytes;
};
template <typename T> Result result(const T *p, size_t n) {
  return {p, n * sizeof(T)};
}

// Launches since the last reset: all, and those of kernels made by the tool
// (only where cudaLaunchKernel is wrapped at link time).
inline int launches = 0, rewritten_launches = 0, unaligned_launches = 0;
inline size_t launched_blocks = 0; // of all launches together
inline bool counting = false;

inline unsigned long long hash(std::initializer_list<Result> results) {
  unsigned long long *sum, h;
  check(cudaMalloc(&sum, sizeof *sum));
  check(cudaMemset(sum, 0, sizeof *sum));
  unsigned long long all = 0;
  for (const Result &r : results) {
    hash_words<<<small_only ? 2 : 2048, 256>>>((const unsigned char *)r.p,
                                               r.bytes, sum);
    check(cudaMemcpy(&h, sum, sizeof h, cudaMemcpyDeviceToHost));
    all = mix(all ^ h);
  }
  check(cudaFree(sum));
  return all;
}

// Runs `launch` once and hashes the results, then times it: 11 samples, each of
// as many launches in a row as take half a millisecond. Prints
//   NAME SIZE MEDIAN_MS HASH LAUNCHES REWRITTEN_LAUNCHES UNALIGNED_LAUNCHES BLOCKS
template <typename F>
void measure(const char *name, const std::string &size, F launch,
             std::initializer_list<Result> results) {
  check(cudaDeviceSynchronize());
  launches = rewritten_launches = unaligned_launches = 0;
  launched_blocks = 0;
  counting = true;
  launch();
  counting = false;
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  unsigned long long h = hash(results);
  float median = 0;
  if (!small_only) {
    cudaEvent_t from, to;
    check(cudaEventCreate(&from));
    check(cudaEventCreate(&to));
    auto sample = [&](int count) {
      float ms;
      check(cudaEventRecord(from));
      for (int i = 0; i < count; ++i)
        launch();
      check(cudaEventRecord(to));
      check(cudaEventSynchronize(to));
      check(cudaEventElapsedTime(&ms, from, to));
      return ms / count;
    };
    sample(2);
    float once = std::max(sample(3), 0.001f);
    int count = std::min(200, std::max(1, (int)(0.5f / once + 0.999f)));
    std::vector<float> times(11);
    for (float &t : times)
      t = sample(count);
    std::sort(times.begin(), times.end());
    median = times[times.size() / 2];
    check(cudaGetLastError());
    check(cudaEventDestroy(from));
    check(cudaEventDestroy(to));
  }
  printf("%s %s %.5f %016llx %d %d %d %zu\n", name, size.c_str(), median, h, launches,
         rewritten_launches, unaligned_launches, launched_blocks);
  fflush(stdout);
}

inline unsigned ceil_div(size_t a, size_t b) {
  return (unsigned)((a + b - 1) / b);
}

} // namespace validation

#ifdef VALIDATION_COUNT_LAUNCHES
// Linked with --wrap for each function below: tells which kernels a launch
// takes. Compilers before CUDA 13 launch by the function's address, later ones
// by a handle.
#include <map>
namespace validation {
inline void count(const void *function, dim3 grid) {
  const char *name = nullptr;
  ++launches;
  launched_blocks += (size_t)grid.x * grid.y * grid.z;
  if (cudaFuncGetName(&name, function) != cudaSuccess)
    return;
  rewritten_launches += strstr(name, "_rc") != nullptr;
  unaligned_launches += strstr(name, "_rc_unaligned") != nullptr;
}
} // namespace validation
extern "C" cudaError_t __real_cudaLaunchKernel(const void *, dim3, dim3,
                                               void **, size_t, cudaStream_t);
extern "C" cudaError_t __wrap_cudaLaunchKernel(const void *kernel, dim3 grid,
                                               dim3 block, void **arguments,
                                               size_t shared,
                                               cudaStream_t stream) {
  if (validation::counting)
    validation::count(kernel, grid);
  return __real_cudaLaunchKernel(kernel, grid, block, arguments, shared,
                                 stream);
}
#if CUDART_VERSION >= 13000
namespace validation {
inline std::map<cudaKernel_t, const void *> functions;
}
extern "C" cudaError_t __real___cudaGetKernel(cudaKernel_t *, const void *);
extern "C" cudaError_t __wrap___cudaGetKernel(cudaKernel_t *kernel,
                                              const void *function) {
  cudaError_t e = __real___cudaGetKernel(kernel, function);
  if (e == cudaSuccess)
    validation::functions[*kernel] = function;
  return e;
}
extern "C" cudaError_t __real___cudaLaunchKernel(cudaKernel_t, dim3, dim3,
                                                 void **, size_t, cudaStream_t);
extern "C" cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid,
                                                 dim3 block, void **arguments,
                                                 size_t shared,
                                                 cudaStream_t stream) {
  if (validation::counting)
    validation::count(validation::functions[kernel], grid);
  return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared,
                                   stream);
}
#endif
#endif

#endif
