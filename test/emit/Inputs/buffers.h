// Device buffers with test data and a checksum line, for executed programs.
#ifndef RCACHE_TEST_BUFFERS_H
#define RCACHE_TEST_BUFFERS_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>
#define CHECK(x)                                                               \
  do {                                                                         \
    x;                                                                         \
    cudaError_t e_ = cudaGetLastError();                                       \
    if (e_) {                                                                  \
      printf("error %s line %d\n", cudaGetErrorString(e_), __LINE__);          \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)
template <class T> struct Buf {
  T *d;
  size_t n;
  explicit Buf(size_t n_, unsigned seed = 0) : n(n_) {
    cudaMalloc((void **)&d, (n ? n : 1) * sizeof(T));
    std::vector<unsigned char> h(n * sizeof(T));
    unsigned x = seed * 2654435761u + 12345u;
    for (auto &b : h) {
      x = x * 1664525u + 1013904223u;
      b = seed ? (unsigned char)(x >> 26) : 0xEE;
    }
    cudaMemcpy(d, h.data(), h.size(), cudaMemcpyHostToDevice);
  }
  ~Buf() { cudaFree(d); }
  void nums(unsigned seed) { // small numbers
    std::vector<T> h(n);
    unsigned x = seed * 2654435761u + 12345u;
    for (auto &b : h) {
      x = x * 1664525u + 1013904223u;
      b = T((int)(x >> 25));
    }
    cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  }
  std::vector<T> host() {
    std::vector<T> h(n);
    cudaMemcpy(h.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost);
    return h;
  }
};
template <class T> void show(const char *name, Buf<T> &b) {
  cudaDeviceSynchronize();
  auto h = b.host();
  unsigned long long f = 1469598103934665603ull;
  const unsigned char *p = (const unsigned char *)h.data();
  for (size_t i = 0; i < h.size() * sizeof(T); ++i)
    f = (f ^ p[i]) * 1099511628211ull;
  printf("%s n=%zu %llx\n", name, b.n, f);
}
#define SIZES {1, 31, 127, 128, 129, 1000, 2049}
#endif
