// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers, random data, sums of results and times for the programs beside it.

#ifndef RCACHE_BENCH_UNSEEN_HARNESS
#define RCACHE_BENCH_UNSEEN_HARNESS

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <functional>
#include <vector>
template <typename T> struct Buf {
  T *p = nullptr;
  size_t n;
  explicit Buf(size_t n) : n(n) {
    cudaMalloc(&p, n * sizeof(T));
    std::vector<T> h(n);
    memset(h.data(), 0, n * sizeof(T));
    cudaMemcpy(p, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  }
  explicit Buf(const std::vector<T> &h) : n(h.size()) {
    cudaMalloc(&p, n * sizeof(T));
    cudaMemcpy(p, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Buf() { cudaFree(p); }
  std::vector<T> get() const {
    std::vector<T> h(n);
    cudaMemcpy(h.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
    return h;
  }
};
inline unsigned rnd() {
  static unsigned s = 12345;
  s = s * 1664525u + 1013904223u;
  return s >> 8;
}
template <typename T> std::vector<T> rnds(size_t n) {
  std::vector<T> v(n);
  for (auto &x : v)
    x = (T)((int)(rnd() % 512) / 4.0);
  return v;
}
inline std::vector<unsigned char> bytes(size_t n) {
  std::vector<unsigned char> v(n);
  for (auto &x : v)
    x = rnd() & 255;
  return v;
}
template <typename T> unsigned long long sum(const Buf<T> &b) {
  std::vector<T> h = b.get();
  const unsigned char *c = (const unsigned char *)h.data();
  unsigned long long s = 1469598103934665603ull;
  for (size_t i = 0; i < h.size() * sizeof(T); ++i)
    s = (s ^ c[i]) * 1099511628211ull;
  return s;
}
inline int cdiv(int a, int b) { return (a + b - 1) / b; }

static double timed(const std::function<void()> &f) {
  static cudaEvent_t s, e;
  static bool first = true;
  if (first) {
    cudaEventCreate(&s);
    cudaEventCreate(&e);
    first = false;
  }
  float best = 1e30f;
  int reps = 4;
  for (int r = 0; r < 7; ++r) {
    cudaEventRecord(s);
    for (int k = 0; k < reps; ++k)
      f();
    cudaEventRecord(e);
    cudaEventSynchronize(e);
    float t;
    cudaEventElapsedTime(&t, s, e);
    if (r > 1 && t / reps < best)
      best = t / reps;
    if (r == 0)
      reps = t / reps > 0.2 ? 2 : t / reps > 0.02 ? 20 : 100;
  }
  return best;
}
static void run(const char *name, const std::function<void()> &f) {
  double t = timed(f);
  cudaError_t e = cudaGetLastError();
  printf("%-18s %9.4f ms%s%s\n", name, t, e ? " " : "",
         e ? cudaGetErrorString(e) : "");
}

#define SZ(name, buf) printf("%s checksum %016llx\n", name, sum(buf))

#endif
