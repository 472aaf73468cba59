// Small helpers shared by the programs of this folder.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                     \
  do {                                                                                       \
    cudaError_t err_ = (call);                                                               \
    if (err_ != cudaSuccess) {                                                               \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err_));     \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

// FNV-1a, eight bytes at a time, the rest byte by byte.
inline uint64_t fnv1a(const void *data, size_t bytes) {
  uint64_t h = 14695981039346656037ull;
  const unsigned char *p = static_cast<const unsigned char *>(data);
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    uint64_t w;
    __builtin_memcpy(&w, p + i, 8);
    h = (h ^ w) * 1099511628211ull;
    h ^= h >> 29;
  }
  for (; i < bytes; ++i)
    h = (h ^ p[i]) * 1099511628211ull;
  return h;
}

struct Rng {
  uint64_t s;
  explicit Rng(uint64_t seed) : s(seed * 0x9E3779B97F4A7C15ull + 1) {}
  uint32_t next() {
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return (uint32_t)(s >> 32);
  }
  float uniform() { return (next() >> 8) * (1.0f / 16777216.0f); }
};

template <class T> T *deviceAlloc(size_t n) {
  T *p = nullptr;
  CUDA_CHECK(cudaMalloc((void **)&p, n * sizeof(T)));
  CUDA_CHECK(cudaMemset(p, 0, n * sizeof(T)));
  return p;
}

template <class T> T *toDevice(const std::vector<T> &v) {
  T *p = deviceAlloc<T>(v.size());
  CUDA_CHECK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

inline std::vector<float> randomFloats(size_t n, uint64_t seed, float lo = 0.0f, float hi = 1.0f) {
  std::vector<float> v(n);
  Rng r(seed);
  for (size_t i = 0; i < n; ++i)
    v[i] = lo + (hi - lo) * r.uniform();
  return v;
}

template <class T> std::vector<T> randomInts(size_t n, uint64_t seed, uint32_t below) {
  std::vector<T> v(n);
  Rng r(seed);
  for (size_t i = 0; i < n; ++i)
    v[i] = (T)(r.next() % below);
  return v;
}

struct GpuTimer {
  cudaEvent_t a, b;
  GpuTimer() {
    cudaEventCreate(&a);
    cudaEventCreate(&b);
  }
  ~GpuTimer() {
    cudaEventDestroy(a);
    cudaEventDestroy(b);
  }
  void start() { cudaEventRecord(a); }
  float stop() {
    cudaEventRecord(b);
    CUDA_CHECK(cudaEventSynchronize(b));
    float ms = 0;
    cudaEventElapsedTime(&ms, a, b);
    return ms;
  }
};

template <class F> float timeMin(F launch, int rounds = 20) {
  launch();
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  GpuTimer t;
  float best = 1e30f;
  for (int i = 0; i < rounds; ++i) {
    t.start();
    launch();
    float ms = t.stop();
    if (ms < best)
      best = ms;
  }
  CUDA_CHECK(cudaGetLastError());
  return best;
}

inline void printTime(const char *kernel, float ms) { std::printf("TIME %s %.5f\n", kernel, ms); }

template <class T> void printHash(const char *kernel, const T *dev, size_t n) {
  std::vector<T> h(n);
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemcpy((void *)h.data(), dev, n * sizeof(T), cudaMemcpyDeviceToHost));
  std::printf("HASH %s %016llx\n", kernel, (unsigned long long)fnv1a(h.data(), n * sizeof(T)));
}
