// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the programs under test/emit share: device buffers, data without
// structure, and a checksum line for each launch.

#ifndef RCACHE_TEST_PROGRAM_H
#define RCACHE_TEST_PROGRAM_H

#include <cstdio>
#include <cstring>
#include <vector>

inline unsigned nextRandom() {
  static unsigned State = 12345;
  State = State * 1664525u + 1013904223u;
  return State >> 8;
}

template <typename T> std::vector<T> randoms(size_t N) {
  std::vector<T> V(N);
  for (T &X : V)
    X = (T)((int)(nextRandom() % 512) / 4.0);
  return V;
}

template <typename T> struct Buffer {
  T *Data = nullptr;
  size_t Size;
  explicit Buffer(const std::vector<T> &Host) : Size(Host.size()) {
    cudaMalloc(&Data, Size * sizeof(T));
    cudaMemcpy(Data, Host.data(), Size * sizeof(T), cudaMemcpyHostToDevice);
  }
  explicit Buffer(size_t N) : Size(N) {
    cudaMalloc(&Data, Size * sizeof(T));
    cudaMemset(Data, 0, Size * sizeof(T));
  }
  ~Buffer() { cudaFree(Data); }
  /// Prints a checksum of all bytes.
  void show(const char *Name, int W = 0, int H = 0) const {
    std::vector<unsigned char> Host(Size * sizeof(T));
    cudaMemcpy(Host.data(), Data, Host.size(), cudaMemcpyDeviceToHost);
    unsigned long long Sum = 1469598103934665603ull;
    for (unsigned char C : Host)
      Sum = (Sum ^ C) * 1099511628211ull;
    std::printf("%s %d x %d: %016llx\n", Name, W, H, Sum);
  }
};

inline int blocks(int N, int Size) { return (N + Size - 1) / Size; }

#endif // RCACHE_TEST_PROGRAM_H
