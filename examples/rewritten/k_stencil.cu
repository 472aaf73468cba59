// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The k-stencil of the register-cache literature: each output is the mean of
// 2 K + 1 neighbours, which the block stages in shared memory.

#include "example.h"
#ifndef RCACHE_DEVICE_WORD
#define RCACHE_DEVICE_WORD
namespace rcache {
namespace device {
/// The type of one memory access of Bytes bytes.
template <int Bytes> struct word;
template <> struct word<1> {
  using type = unsigned char;
};
template <> struct word<2> {
  using type = unsigned short;
};
template <> struct word<4> {
  using type = unsigned int;
};
template <> struct word<8> {
  using type = uint2;
};
template <> struct word<16> {
  using type = uint4;
};
} // namespace device
} // namespace rcache
#endif
#ifndef RCACHE_DEVICE_LOAD_RUN
#define RCACHE_DEVICE_LOAD_RUN
namespace rcache {
namespace device {
/// w[i] = p[i] for 0 <= i < N, in accesses of Bytes bytes where p + Head is
/// aligned for them (Head < Bytes / sizeof(T)), else one element at a time.
/// Reads nothing outside the run.
template <int Bytes, int Head, int N, typename T>
__device__ __forceinline__ void load_run(T (&w)[N], const T *p) {
  constexpr int V = Bytes / static_cast<int>(sizeof(T));
  constexpr int Vectors = V > 1 && N > Head ? (N - Head) / V : 0;
  if (Vectors > 0 &&
      reinterpret_cast<unsigned long long>(p + Head) % Bytes == 0) {
    using word_t = typename word<Bytes>::type;
#pragma unroll
    for (int i = 0; i < Head && i < N; ++i)
      w[i] = p[i];
#pragma unroll
    for (int v = 0; v < Vectors; ++v) {
      const word_t x = reinterpret_cast<const word_t *>(p + Head)[v];
      memcpy(&w[Head + v * V], &x, Bytes);
    }
#pragma unroll
    for (int i = Head + Vectors * V; i < N; ++i)
      w[i] = p[i];
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i)
      w[i] = p[i];
  }
}
} // namespace device
} // namespace rcache
#endif
#ifndef RCACHE_DEVICE_STORE_RUN
#define RCACHE_DEVICE_STORE_RUN
namespace rcache {
namespace device {
/// p[i] = v[i] for those i with on[i]; in accesses of Bytes bytes where all are
/// on and p is aligned for them.
template <int Bytes, int N, typename T>
__device__ __forceinline__ void store_run(T *p, const T (&v)[N],
                                          const bool (&on)[N]) {
  constexpr int V = Bytes / static_cast<int>(sizeof(T));
  bool all = N % V == 0 && reinterpret_cast<unsigned long long>(p) % Bytes == 0;
#pragma unroll
  for (int i = 0; i < N; ++i)
    all = all && on[i];
  if (all) {
    using word_t = typename word<Bytes>::type;
#pragma unroll
    for (int i = 0; i < N / V; ++i) {
      word_t x;
      memcpy(&x, &v[i * V], Bytes);
      reinterpret_cast<word_t *>(p)[i] = x;
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i)
      if (on[i])
        p[i] = v[i];
  }
}
} // namespace device
} // namespace rcache
#endif

#define K 8
#define BLOCK 256

// A holds n + 2 * K elements, B holds n.
__global__ void kStencil(const float *A, float *B, int n) {
  __shared__ float s[BLOCK + 2 * K];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  int l = threadIdx.x;

  // Every thread loads its element, the first 2 K load the tail.
  if (g < n + 2 * K)
    s[l] = A[g];
  if (l < 2 * K && g + BLOCK < n + 2 * K)
    s[l + BLOCK] = A[g + BLOCK];
  __syncthreads();

  if (g >= n)
    return;
  float sum = 0;
  for (int j = 0; j <= 2 * K; ++j)
    sum += s[l + j];
  B[g] = sum / (2 * K + 1);
}

__global__ void kStencil_rc(const float *A, float *B, int n,
                            const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 8 threads of kStencil, neighbours in x.
  //   s: window of 24 registers, loaded by each thread.
  //   Barriers stay: 'B' is written and may be 'A', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.y + threadIdx.y; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                          // all threads of this logical block
  const int rc_tx = threadIdx.x * 8; // first logical thread
  // Every thread loads its element, the first 2 K load the tail.

  // s[rc_e0] as the original stages it.
  const auto rc_s_at = [=](const int rc_e0) -> float {
    if (256 * (int)rc_block_x + rc_e0 - 15 <= n)
      return A[256 * (int)rc_block_x + rc_e0];
    return {}; // never used
  };
  // Phase: the elements of s that this thread's outputs need.
  float rc_s_w[24];
  {
    const int rc_e0 = rc_tx;
    if (256 * (int)rc_block_x + rc_e0 < n - 7) {
      rcache::device::load_run<16, 0>(rc_s_w,
                                      A + (256 * (int)rc_block_x + rc_e0));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 24; ++rc_m)
        rc_s_w[rc_m] = rc_s_at(rc_e0 + rc_m);
    }
  }
  __syncthreads();
  float rc_B_v[8];
  bool rc_B_v_on[8] = {};
#pragma unroll
  for (int rc_s = 0; rc_s < 8; ++rc_s) {

    float sum = 0;

#pragma unroll
    for (int j = 0; j <= 2 * K; ++j)
      sum += rc_s_w[rc_s + j];
    rc_B_v[rc_s] = sum / (2 * K + 1);
  }
#pragma unroll
  for (int rc_s = 0; rc_s < 8; ++rc_s) {
    const unsigned int rc_thread_x = rc_tx + rc_s;
    const int g = rc_block_x * 256u + rc_thread_x;
    rc_B_v_on[rc_s] = !(g >= n);
  }
  rcache::device::store_run<16>(B + (rc_tx + (int)(256u * rc_block_x)), rc_B_v,
                                rc_B_v_on);
}

// Launches the register-cache form of kStencil where it applies, else kStencil
// itself.
static inline void kStencil_rc_launch(dim3 rc_grid, dim3 rc_block,
                                      size_t rc_shared, cudaStream_t rc_stream,
                                      const float *A, float *B, int n) {
  if ((rc_block.x == 256 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 256) &&
      ((double)rc_block.x * rc_grid.x <= 2147483647.0)) {
    // Merge logical blocks until a physical block has 64 threads or more.
    const unsigned int rc_threads = 32u;
    const unsigned int rc_merged = rc_threads < 64u ? 64u / rc_threads : 1u;
    const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                         rc_grid.z);
    const dim3 rc_threads_of_block(32u, rc_merged, 1);
    kStencil_rc<<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(A, B, n,
                                                                  rc_grid.x);
    return;
  }

  kStencil<<<rc_grid, rc_block, rc_shared, rc_stream>>>(A, B, n);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 10000);
  const std::vector<float> a = example::numbers<float>(n + 2 * K);
  example::Buffer<float> A(a), B(std::vector<float>(n, -1.0f));

  kStencil_rc_launch((n + BLOCK - 1) / BLOCK, BLOCK, 0, 0, A.data(), B.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(n);
  for (int g = 0; g < n; ++g) {
    float sum = 0;
    for (int j = 0; j <= 2 * K; ++j)
      sum += a[g + j];
    want[g] = sum / (2 * K + 1);
  }
  return example::report("k_stencil", B.host(), want);
}
