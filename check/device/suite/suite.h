// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the suite programs share. A program is a list of cases; each computes an
// array on the device. Run without arguments it prints a line for each case;
// with the name of a file of such lines it compares:
//
//   NAME exact COUNT H0 H1 ...     a hash for each few elements (pieceOf)
//   NAME ulp=N COUNT V0 V1 ...     bits of each element; N: units in the last
//                                  place by which elements may differ

#ifndef RCACHE_CHECK_DEVICE_SUITE_H
#define RCACHE_CHECK_DEVICE_SUITE_H

#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace suite {

struct Result {
  std::string Kind; // "exact" or "ulp=N"
  size_t Count = 0;
  std::vector<uint64_t> Words;
};

struct State {
  std::vector<std::pair<std::string, std::function<void()>>> Cases;
  std::vector<std::string> Order;
  std::map<std::string, Result> Results;
  static State &get() {
    static State S;
    return S;
  }
};

struct Case {
  Case(const char *Name, std::function<void()> Run) {
    State::get().Cases.push_back({Name, std::move(Run)});
  }
};

/// Elements with one hash in common.
inline size_t pieceOf(size_t Count) { return Count > 1024 ? (Count + 63) / 64 : 16; }

inline void put(const std::string &Name, const std::string &Kind, const void *Data, size_t Count,
                size_t Size) {
  Result R;
  R.Kind = Kind;
  R.Count = Count;
  auto *P = static_cast<const unsigned char *>(Data);
  if (Kind == "exact") {
    size_t Step = pieceOf(Count);
    for (size_t I = 0; I < Count; I += Step) {
      uint32_t H = 2166136261u;
      size_t End = I + Step < Count ? I + Step : Count;
      for (size_t B = I * Size; B < End * Size; ++B)
        H = (H ^ P[B]) * 16777619u;
      R.Words.push_back(H);
    }
  } else {
    for (size_t I = 0; I < Count; ++I) {
      uint64_t W = 0;
      memcpy(&W, P + I * Size, Size);
      R.Words.push_back(W);
    }
  }
  auto &S = State::get();
  S.Order.push_back(Name);
  S.Results[Name] = R;
}

/// Ulp: every bit counts; the bits of what is not a number do not (a device keeps
/// those of an operand in double, in bfloat16 and in conversions).
constexpr int Exact = -1, AnyNaN = -2;
template <typename T> void oneNaN(T &V) {
  if (V != V)
    memset(&V, 0xff, sizeof(V));
}
inline void oneNaN(unsigned short &V) { // bfloat16
  if ((V & 0x7fff) > 0x7f80)
    V = 0xffff;
}

template <typename T> constexpr int bitsOfNaN() {
  return sizeof(T) == 8 && T(0.5) != T(0) ? AnyNaN : Exact;
}

/// Takes a result from device memory.
template <typename T>
void take(const std::string &Name, const T *Device, size_t Count, int Ulp = Exact) {
  std::vector<T> H(Count);
  cudaError_t E = cudaDeviceSynchronize();
  if (E == cudaSuccess)
    E = cudaGetLastError();
  if (E == cudaSuccess)
    E = cudaMemcpy(H.data(), Device, Count * sizeof(T), cudaMemcpyDeviceToHost);
  if (E != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", Name.c_str(), cudaGetErrorString(E));
    exit(1);
  }
  if (Ulp == AnyNaN)
    for (T &V : H)
      oneNaN(V);
  put(Name, Ulp < 0 ? "exact" : "ulp=" + std::to_string(Ulp), H.data(), Count, sizeof(T));
}

/// Device memory that is freed at the end of the scope, filled with zeros.
template <typename T> struct Array {
  T *P = nullptr;
  size_t N;
  explicit Array(size_t N) : N(N) {
    cudaMalloc(&P, N * sizeof(T));
    cudaMemset(P, 0, N * sizeof(T));
  }
  explicit Array(const std::vector<T> &H) : Array(H.size()) {
    cudaMemcpy(P, H.data(), N * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Array() { cudaFree(P); }
  Array(const Array &) = delete;
  operator T *() const { return P; }
};

inline uint32_t random32(uint32_t &X) {
  X ^= X << 13, X ^= X >> 17, X ^= X << 5;
  return X;
}
template <typename T> T fromBits(uint64_t B) {
  T V;
  memcpy(&V, &B, sizeof(T));
  return V;
}
/// Values at which operations behave specially, then random bits.
template <typename T> std::vector<T> values(size_t N) {
  std::vector<T> V;
  bool Float = T(0.5) != T(0);
  if (Float) {
    double Special[] = {0.0,  -0.0, 1.0,  -1.0, 0.5,   -0.5,  1.5,  2.5,  -2.5, 3.0,
                        1e30, 1e-30, 1e10, -1e10, 65504, 65536, 2147483648.0, 4294967296.0,
                        -2147483649.0, 9.3e18, 0.1, -0.1, 1.0 / 3, 1e-5};
    for (double D : Special)
      V.push_back(T(D));
    V.push_back(T(INFINITY));
    V.push_back(T(-INFINITY));
    if (sizeof(T) == 4)
      for (uint64_t B : {0x7fc00000ull, 0xffc12345ull, 0x7f800001ull, 1ull, 0x80000001ull,
                         0x007fffffull, 0x00800000ull, 0x7f7fffffull, 0x3f800001ull, 0x33800000ull})
        V.push_back(fromBits<T>(B));
    else
      for (uint64_t B : {0x7ff8000000000000ull, 0x7ff0000000000001ull, 1ull,
                         0x8000000000000001ull, 0x000fffffffffffffull, 0x7fefffffffffffffull,
                         0x3ff0000000000001ull, 0x36a0000000000000ull})
        V.push_back(fromBits<T>(B));
  } else {
    for (uint64_t B : {0ull, 1ull, 2ull, 3ull, 7ull, 31ull, 32ull, 33ull, 255ull, 256ull, 0x7fffull,
                       0x8000ull, 0xffffull, 0x7fffffffull, 0x80000000ull, 0xffffffffull,
                       0x100000000ull, 0x7fffffffffffffffull, 0x8000000000000000ull, ~0ull,
                       0x0123456789abcdefull, 0xfedcba9876543210ull, 0x00ff00ff00ff00ffull})
      V.push_back(T(B));
  }
  uint32_t X = 2463534242u;
  while (V.size() < N) {
    uint64_t B = uint64_t(random32(X)) << 32 | random32(X);
    V.push_back(fromBits<T>(B));
  }
  V.resize(N);
  return V;
}
/// Values in [Low, High], for functions that are not defined everywhere.
template <typename T> std::vector<T> range(double Low, double High, size_t N) {
  std::vector<T> V;
  for (size_t I = 0; I < N; ++I)
    V.push_back(T(Low + (High - Low) * double((I * 37) % N) / double(N - 1)));
  return V;
}


inline int main(int Argc, char **Argv) {
  State &S = State::get();
  for (auto &C : S.Cases)
    C.second();
  if (Argc < 2) {
    for (const std::string &Name : S.Order) {
      const Result &R = S.Results[Name];
      printf("%s %s %zu", Name.c_str(), R.Kind.c_str(), R.Count);
      for (uint64_t W : R.Words)
        printf(" %" PRIx64, W);
      printf("\n");
    }
    return 0;
  }
  std::ifstream File(Argv[1]);
  std::string Line, Bad;
  unsigned Cases = 0, Equal = 0, Near = 0;
  while (std::getline(File, Line)) {
    std::istringstream In(Line);
    std::string Name, Word;
    Result Want;
    In >> Name >> Want.Kind >> Want.Count;
    while (In >> Word)
      Want.Words.push_back(strtoull(Word.c_str(), nullptr, 16));
    ++Cases;
    auto It = S.Results.find(Name);
    if (It == S.Results.end() || It->second.Count != Want.Count ||
        It->second.Words.size() != Want.Words.size()) {
      Bad += "\n" + Name + ": has no counterpart";
      continue;
    }
    const Result &Got = It->second;
    if (Got.Words == Want.Words) {
      ++Equal;
      continue;
    }
    unsigned long Limit = Want.Kind == "exact" ? 0 : strtoul(Want.Kind.c_str() + 4, nullptr, 10);
    std::string Worst;
    uint64_t Far = 0;
    unsigned Count = 0;
    for (size_t I = 0; I < Want.Words.size(); ++I) {
      uint64_t A = Got.Words[I], B = Want.Words[I];
      if (A == B)
        continue;
      ++Count;
      uint64_t D = A > B ? A - B : B - A;
      if (D >= Far) {
        Far = D;
        char T[160];
        size_t From = Want.Kind == "exact" ? I * pieceOf(Want.Count) : I;
        snprintf(T, sizeof(T), "%s: %s %zu is %" PRIx64 ", expected %" PRIx64, Name.c_str(),
                 Want.Kind == "exact" ? "hash from element" : "element", From, A, B);
        Worst = T;
      }
    }
    if (Far <= Limit)
      ++Near;
    else
      Bad += "\n" + Worst + " (" + std::to_string(Count) + " differ)";
  }
  printf("%u %u %u %u%s\n", Cases, Equal, Near, Cases - Equal - Near, Bad.c_str());
  return Cases == Equal + Near && Cases == S.Results.size() ? 0 : 1;
}

} // namespace suite

/// A case that maps each value (or pair, or triple) to a result.
#define RCC_INDEX int i = blockIdx.x * blockDim.x + threadIdx.x
#define RCC_ID2(a, b) a##b
#define RCC_ID(a, b) RCC_ID2(a, b)
#define UNARY_IN(Name, In, Out, Expr, Values, Ulp)                                                 \
  __global__ void RCC_ID(k_, Name)(const In *a, Out *o, int n) {                                   \
    RCC_INDEX;                                                                                     \
    if (i < n) {                                                                                   \
      In x = a[i];                                                                                 \
      o[i] = (Expr);                                                                               \
    }                                                                                              \
  }                                                                                                \
  static suite::Case RCC_ID(c_, Name)(#Name, [] {                                                  \
    std::vector<In> V = Values;                                                                    \
    suite::Array<In> A(V);                                                                         \
    suite::Array<Out> O(V.size());                                                                 \
    RCC_ID(k_, Name)<<<(V.size() + 63) / 64, 64>>>(A.P, O.P, (int)V.size());                       \
    suite::take(#Name, O.P, V.size(), Ulp);                                                        \
  });
#define UNARY(Name, In, Out, Expr)                                                                 \
  UNARY_IN(Name, In, Out, Expr, suite::values<In>(96), suite::bitsOfNaN<Out>())
#define UNARY_NAN(Name, In, Out, Expr)                                                             \
  UNARY_IN(Name, In, Out, Expr, suite::values<In>(96), suite::AnyNaN)
#define BINARY_IN(Name, In, Out, Expr, Count, Ulp)                                                 \
  __global__ void RCC_ID(k_, Name)(const In *a, Out *o, int n) {                                   \
    RCC_INDEX;                                                                                     \
    if (i < n * n) {                                                                               \
      In x = a[i / n], y = a[i % n];                                                               \
      o[i] = (Expr);                                                                               \
    }                                                                                              \
  }                                                                                                \
  static suite::Case RCC_ID(c_, Name)(#Name, [] {                                                  \
    std::vector<In> V = suite::values<In>(Count);                                                  \
    suite::Array<In> A(V);                                                                         \
    suite::Array<Out> O(Count * Count);                                                            \
    RCC_ID(k_, Name)<<<(Count * Count + 63) / 64, 64>>>(A.P, O.P, Count);                          \
    suite::take(#Name, O.P, Count * Count, Ulp);                                                   \
  });
#define BINARY(Name, In, Out, Expr) BINARY_IN(Name, In, Out, Expr, 40, suite::bitsOfNaN<Out>())
#define BINARY_NAN(Name, In, Out, Expr) BINARY_IN(Name, In, Out, Expr, 40, suite::AnyNaN)
#define TERNARY(Name, In, Out, Expr)                                                               \
  __global__ void RCC_ID(k_, Name)(const In *a, Out *o, int n) {                                   \
    RCC_INDEX;                                                                                     \
    if (i < n * n) {                                                                               \
      In x = a[i / n], y = a[i % n], z = a[(i * 7 + 3) % n];                                       \
      o[i] = (Expr);                                                                               \
    }                                                                                              \
  }                                                                                                \
  static suite::Case RCC_ID(c_, Name)(#Name, [] {                                                  \
    std::vector<In> V = suite::values<In>(44);                                                     \
    suite::Array<In> A(V);                                                                         \
    suite::Array<Out> O(44 * 44);                                                                  \
    RCC_ID(k_, Name)<<<(44 * 44 + 63) / 64, 64>>>(A.P, O.P, 44);                                   \
    suite::take(#Name, O.P, 44 * 44, suite::bitsOfNaN<Out>());                                                              \
  });

#endif
