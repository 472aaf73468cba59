// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the examples share: checked CUDA calls, device buffers, test data, and
// the comparison with the CPU. Each example prints one line and exits 0 when
// the device gave the CPU's bits, else 1.
//
// The data are small whole numbers, and weights are multiples of 1/64, so that
// float arithmetic is exact and fused multiply-adds change nothing.

#ifndef RCACHE_EXAMPLES_EXAMPLE_H
#define RCACHE_EXAMPLES_EXAMPLE_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

namespace example {

inline void check(cudaError_t error, const char *file, int line) {
  if (error == cudaSuccess)
    return;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, cudaGetErrorString(error));
  std::exit(1);
}

/// The first argument as a number, or what is usual.
inline int argument(int argc, char **argv, int usual) {
  return argc > 1 ? std::atoi(argv[1]) : usual;
}

/// Small whole numbers that look random, 0 ... 255.
template <typename T> std::vector<T> numbers(size_t n, unsigned seed = 1) {
  std::vector<T> v(n);
  unsigned x = seed * 2654435761u + 12345u;
  for (T &e : v) {
    x = x * 1664525u + 1013904223u;
    e = T(int(x >> 24));
  }
  return v;
}

/// Device memory for the elements of a vector; freed at the end of its scope.
template <typename T> class Buffer {
public:
  explicit Buffer(const std::vector<T> &host) : Count(host.size()) {
    check(cudaMalloc(&Data, Count * sizeof(T)), __FILE__, __LINE__);
    check(cudaMemcpy(Data, host.data(), Count * sizeof(T),
                     cudaMemcpyHostToDevice),
          __FILE__, __LINE__);
  }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() { cudaFree(Data); }
  T *data() const { return Data; }
  std::vector<T> host() const {
    std::vector<T> v(Count);
    check(cudaMemcpy(v.data(), Data, Count * sizeof(T), cudaMemcpyDeviceToHost),
          __FILE__, __LINE__);
    return v;
  }

private:
  T *Data = nullptr;
  size_t Count;
};

/// A hash of the bytes (FNV-1a).
template <typename T> unsigned long long checksum(const std::vector<T> &v) {
  unsigned long long h = 14695981039346656037ull;
  const unsigned char *p = reinterpret_cast<const unsigned char *>(v.data());
  for (size_t i = 0; i < v.size() * sizeof(T); ++i)
    h = (h ^ p[i]) * 1099511628211ull;
  return h;
}

/// Prints the verdict; 0 when both hold the same bits.
template <typename T>
int report(const char *name, const std::vector<T> &got,
           const std::vector<T> &want) {
  for (size_t i = 0; i < want.size(); ++i)
    if (std::memcmp(&got[i], &want[i], sizeof(T)) != 0) {
      std::printf("%s: WRONG at element %zu: %g instead of %g\n", name, i,
                  double(got[i]), double(want[i]));
      return 1;
    }
  std::printf("%s: ok, %zu elements, checksum %016llx\n", name, want.size(),
              checksum(want));
  return 0;
}

} // namespace example

#define EXAMPLE_CHECK(call) example::check((call), __FILE__, __LINE__)

#endif // RCACHE_EXAMPLES_EXAMPLE_H
