// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The k-stencil of the register-cache literature, block size known at the
// launch only (dynamic shared memory). -DTYPE=float|int -DK=1...
//
// The last 2 K outputs read elements that nothing staged: they are not
// compared.

#include "../harness.cuh"
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

#define STRING2(x) #x
#define STRING(x) STRING2(x)

extern __shared__ TYPE s[];

__global__ void stencil(const TYPE *A, TYPE *B, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x;
  if (g >= n)
    return;
  s[l] = A[g];
  if (l < 2 * K && g + blockDim.x < n)
    s[l + blockDim.x] = A[g + blockDim.x];
  __syncthreads();
  TYPE sum = 0;
  for (int j = 0; j <= 2 * K; ++j)
    sum += s[l + j];
  B[g] = sum / (2 * K + 1);
}

__global__ void stencil_rc(const TYPE *A, TYPE *B, int n,
                           const unsigned int rc_grid_x,
                           const unsigned int rc_bdim_x) {
  // Register cache: a thread stands for 8 threads of stencil, neighbours in x.
  //   s: window of 58 registers, loaded by each thread.
  //   Barriers stay: 'B' is written and may be 'A', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.y + threadIdx.y; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                          // all threads of this logical block
  const int rc_tx = threadIdx.x * 8; // first logical thread
  // s[rc_e0] as the original stages it.
  const auto rc_s_at = [=](const int rc_e0) -> float {
    if (rc_e0 < 2 * (int)rc_bdim_x && rc_e0 - 49 <= (int)rc_bdim_x &&
        (int)(rc_bdim_x * rc_block_x) + rc_e0 < n)
      return A[(int)(rc_bdim_x * rc_block_x) + rc_e0];
    return {}; // never used
  };
  // Phase: the elements of s that this thread's outputs need.
  float rc_s_w[58];
  {
    const int rc_e0 = rc_tx;
    if (rc_e0 < 2 * (int)rc_bdim_x - 57 && rc_e0 < (int)rc_bdim_x - 7 &&
        (int)(rc_bdim_x * rc_block_x) + rc_e0 < n - 57) {
      rcache::device::load_run<16, 0>(
          rc_s_w, A + ((int)(rc_bdim_x * rc_block_x) + rc_e0));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 58; ++rc_m)
        rc_s_w[rc_m] = rc_s_at(rc_e0 + rc_m);
    }
  }
  __syncthreads();
  float sum[8];
#pragma unroll
  for (int rc_s = 0; rc_s < 8; ++rc_s) {
    const unsigned int rc_thread_x = rc_tx + rc_s;
    const int g = rc_block_x * rc_bdim_x + rc_thread_x;
    if (g >= n)
      continue;
    sum[rc_s] = 0;
  }
#pragma unroll
  for (int j = 0; j <= 2 * K; ++j) {
#pragma unroll
    for (int rc_s = 0; rc_s < 8; ++rc_s) {
      sum[rc_s] += rc_s_w[rc_s + j];
    }
  }
  float rc_B_v[8];
  bool rc_B_v_on[8] = {};
#pragma unroll
  for (int rc_s = 0; rc_s < 8; ++rc_s) {
    const unsigned int rc_thread_x = rc_tx + rc_s;
    const int g = rc_block_x * rc_bdim_x + rc_thread_x;
    if (g >= n)
      continue;
    rc_B_v[rc_s] = sum[rc_s] / (2 * K + 1);
    rc_B_v_on[rc_s] = true;
  }
  rcache::device::store_run<16>(B + (rc_tx + (int)(rc_bdim_x * rc_block_x)),
                                rc_B_v, rc_B_v_on);
}

// Launches the register-cache form of stencil where it applies, else stencil
// itself.
static inline void stencil_rc_launch(dim3 rc_grid, dim3 rc_block,
                                     size_t rc_shared, cudaStream_t rc_stream,
                                     const TYPE *A, TYPE *B, int n) {
  if ((rc_block.y == 1 && rc_block.z == 1) &&
      (rc_block.x % 8 == 0 && rc_block.x != 0 && rc_block.x <= 1024) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / rc_block.x) &&
      ((double)rc_block.x * rc_grid.x <= 2147483647.0)) {
    // Merge logical blocks until a physical block has 128 threads or more.
    const unsigned int rc_threads = rc_block.x / 8u;
    const unsigned int rc_merged = rc_threads < 128u ? 128u / rc_threads : 1u;
    const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                         rc_grid.z);
    const dim3 rc_threads_of_block(rc_block.x / 8u, rc_merged, 1);
    stencil_rc<<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(
        A, B, n, rc_grid.x, rc_block.x);
    return;
  }

  stencil<<<rc_grid, rc_block, rc_shared, rc_stream>>>(A, B, n);
}

static void launch(const TYPE *A, TYPE *B, int n, int block) {
  stencil_rc_launch((n + block - 1) / block, block, (block + 2 * K) * sizeof(TYPE), 0, A, B, n);
}

int main(int argc, char **argv) {
  bench::measure1d<TYPE>(bench::label(argc, argv),
                         "stencil-" STRING(TYPE) "-k" STRING(K), 2 * K, launch);
  return 0;
}
