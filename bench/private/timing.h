// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data, timing and a checksum for the programs beside it.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

inline unsigned nextRandom() {
  static unsigned State = 12345;
  State = State * 1664525u + 1013904223u;
  return State >> 8;
}
template <class T> T *device(size_t N, bool Fill) {
  T *D = nullptr;
  cudaMalloc(&D, N * sizeof(T));
  std::vector<T> H(N);
  if (Fill)
    for (T &X : H)
      X = (T)((nextRandom() % 4096) / 4.0);
  cudaMemcpy(D, H.data(), N * sizeof(T), cudaMemcpyHostToDevice);
  return D;
}
// Prints "name: median ms, hash" of 21 launches after 3.
template <class T, class Launch> void time(const char *Name, T *Out, size_t N, Launch L) {
  cudaEvent_t A, B;
  cudaEventCreate(&A);
  cudaEventCreate(&B);
  std::vector<float> Ms;
  for (int I = 0; I < 24; ++I) {
    cudaEventRecord(A);
    L();
    cudaEventRecord(B);
    cudaEventSynchronize(B);
    float M = 0;
    cudaEventElapsedTime(&M, A, B);
    if (I >= 3)
      Ms.push_back(M);
  }
  std::sort(Ms.begin(), Ms.end());
  std::vector<unsigned char> H(N * sizeof(T));
  cudaMemcpy(H.data(), Out, H.size(), cudaMemcpyDeviceToHost);
  unsigned long long Sum = 1469598103934665603ull;
  for (unsigned char C : H)
    Sum = (Sum ^ C) * 1099511628211ull;
  std::printf("%-28s %9.4f ms  %016llx  %s\n", Name, Ms[Ms.size() / 2], Sum, cudaGetErrorString(cudaGetLastError()));
}
