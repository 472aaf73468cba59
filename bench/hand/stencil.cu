// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The k-stencil by hand, in the forms that the tool's output is compared with:
//   round robin    the register cache of the literature, C outputs a thread
//   direct         each thread loads its window itself, by vectors, C = 8
//   shared strided the shared-memory kernel with 8 outputs a thread
// -DTYPE=float|int -DK=1...

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

typedef TYPE T;

// Element e of a warp's footprint lies in lane e % 32, register e / 32. Output
// s of a lane is element lane + 32 * s of the warp's outputs.
template <int C> __global__ void roundRobin(const T *A, T *B, int n) {
  constexpr int Registers = C + (2 * K + 31) / 32;
  const int lane = threadIdx.x % 32;
  const int first =
      (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 32 * C + lane;
  T rc[Registers];
#pragma unroll
  for (int r = 0; r < Registers; ++r)
    rc[r] = first + 32 * r < n ? A[first + 32 * r] : T();
#pragma unroll
  for (int s = 0; s < C; ++s) {
    T sum = 0;
#pragma unroll
    for (int m = 0; m <= 2 * K; ++m) {
      const int r = s + m / 32;
      const T mine =
          m % 32 && lane < m % 32 ? rc[r + 1 < Registers ? r + 1 : r] : rc[r];
      sum += __shfl_sync(~0u, mine, (lane + m) % 32);
    }
    if (first + 32 * s < n)
      B[first + 32 * s] = sum / (2 * K + 1);
  }
}

template <int C> __global__ void direct(const T *A, T *B, int n) {
  constexpr int N = C + 2 * K;
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * C;
  T w[N];
  if (first + N <= n) {
#pragma unroll
    for (int m = 0; m + 4 <= N; m += 4)
      *reinterpret_cast<uint4 *>(w + m) =
          *reinterpret_cast<const uint4 *>(A + first + m);
#pragma unroll
    for (int m = N / 4 * 4; m < N; ++m)
      w[m] = A[first + m];
  } else {
#pragma unroll
    for (int m = 0; m < N; ++m)
      w[m] = first + m < n ? A[first + m] : T();
  }
  alignas(16) T out[C];
#pragma unroll
  for (int s = 0; s < C; ++s) {
    T sum = 0;
#pragma unroll
    for (int m = 0; m <= 2 * K; ++m)
      sum += w[s + m];
    out[s] = sum / (2 * K + 1);
  }
  if (first + C <= n) {
#pragma unroll
    for (int s = 0; s < C; s += 4)
      *reinterpret_cast<uint4 *>(B + first + s) =
          *reinterpret_cast<const uint4 *>(out + s);
  } else {
#pragma unroll
    for (int s = 0; s < C; ++s)
      if (first + s < n)
        B[first + s] = out[s];
  }
}

__global__ void naive(const T *A, T *B, int n) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= n)
    return;
  T sum = 0;
#pragma unroll
  for (int m = 0; m <= 2 * K; ++m)
    sum += g + m < n ? A[g + m] : T();
  B[g] = sum / (2 * K + 1);
}

template <int C, int Block>
__global__ void sharedStrided(const T *A, T *B, int n) {
  __shared__ T s[C * Block + 2 * K];
  const int first = blockIdx.x * C * Block;
  for (int i = threadIdx.x; i < C * Block + 2 * K; i += Block)
    s[i] = first + i < n ? A[first + i] : T();
  __syncthreads();
#pragma unroll
  for (int c = 0; c < C; ++c) {
    const int l = threadIdx.x + c * Block;
    T sum = 0;
#pragma unroll
    for (int m = 0; m <= 2 * K; ++m)
      sum += s[l + m];
    if (first + l < n)
      B[first + l] = sum / (2 * K + 1);
  }
}

static unsigned blocks(int n, int block, int c) {
  return unsigned((size_t(n) + size_t(block) * c - 1) / (size_t(block) * c));
}

template <int C> static void measureRoundRobin(const std::string &name) {
  bench::measure1d<T>(("round robin C=" + std::to_string(C)).c_str(), name,
                      2 * K,
                      [](const T *A, T *B, int n, int block) {
                        roundRobin<C><<<blocks(n, block, C), block>>>(A, B, n);
                      },
                      {128, 256});
}

int main() {
  const std::string name = "stencil-" STRING(TYPE) "-k" STRING(K);
  bench::measure1d<T>("naive", name, 2 * K,
                      [](const T *A, T *B, int n, int block) {
                        naive<<<blocks(n, block, 1), block>>>(A, B, n);
                      },
                      {128, 256});
  measureRoundRobin<1>(name);
  measureRoundRobin<2>(name);
  measureRoundRobin<4>(name);
  measureRoundRobin<8>(name);
  bench::measure1d<T>("direct C=8", name, 2 * K,
                      [](const T *A, T *B, int n, int block) {
                        direct<8><<<blocks(n, block, 8), block>>>(A, B, n);
                      },
                      {64, 128});
  bench::measure1d<T>("shared strided C=8", name, 2 * K,
                      [](const T *A, T *B, int n, int) {
                        sharedStrided<8, 128>
                            <<<blocks(n, 128, 8), 128>>>(A, B, n);
                      },
                      {128});
  return 0;
}
