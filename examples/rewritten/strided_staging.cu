// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole block fills the tile together: a strided loop covers block and
// halo, whatever the block size is. Reads a maximum over the window.

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

#define R 3

__global__ void slidingMaximum(const short *in, short *out, int n) {
  __shared__ short tile[1024 + 2 * R];
  const int first = blockIdx.x * blockDim.x - R;
  for (int i = threadIdx.x; i < blockDim.x + 2 * R; i += blockDim.x) {
    const int g = first + i;
    tile[i] = g >= 0 && g < n ? in[g] : 0;
  }
  __syncthreads();

  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n) {
    short best = tile[threadIdx.x];
    for (int j = 1; j <= 2 * R; ++j) {
      const short x = tile[threadIdx.x + j];
      best = x > best ? x : best;
    }
    out[g] = best;
  }
}

__global__ void slidingMaximum_rc(const short *in, short *out, int n,
                                  const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 16 threads of slidingMaximum,
  // neighbours in x.
  //   tile: window of 22 registers, loaded by each thread.
  //   Barriers stay: 'out' is written and may be 'in', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.y + threadIdx.y; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                           // all threads of this logical block
  const int rc_tx = threadIdx.x * 16; // first logical thread
  // tile[rc_e0] as the original stages it.
  const auto rc_tile_at = [=](const int rc_e0) -> short {
    if (3 <= 192 * (int)rc_block_x + rc_e0 &&
        192 * (int)rc_block_x + rc_e0 - 2 <= n)
      return (short)((int)(in[rc_e0 + 192 * (int)rc_block_x - 3]));
    if ((3 <= 192 * (int)rc_block_x + rc_e0 &&
         n < 192 * (int)rc_block_x + rc_e0 - 2) ||
        ((int)rc_block_x == 0 && rc_e0 < 3))
      return (short)(0);
    return {}; // never used
  };
  // Phase: the elements of tile that this thread's outputs need.
  short rc_tile_w[22];
  {
    const int rc_e0 = rc_tx;
    if (16 <= 192 * (int)rc_block_x + rc_e0 &&
        192 * (int)rc_block_x + rc_e0 < n - 18) {
      short rc_l0[22];
      rcache::device::load_run<16, 3>(rc_l0,
                                      in + (rc_e0 + 192 * (int)rc_block_x - 3));
#pragma unroll
      for (int rc_m = 0; rc_m < 22; ++rc_m)
        rc_tile_w[rc_m] = (short)((int)(rc_l0[rc_m]));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 22; ++rc_m)
        rc_tile_w[rc_m] = rc_tile_at(rc_e0 + rc_m);
    }
  }
  __syncthreads();
  int g[16];
#pragma unroll
  for (int rc_s = 0; rc_s < 16; ++rc_s) {
    const unsigned int rc_thread_x = rc_tx + rc_s;
    g[rc_s] = rc_block_x * 192u + rc_thread_x;
  }
  {
    short rc_out_v[16];
    bool rc_out_v_on[16] = {};
#pragma unroll
    for (int rc_s = 0; rc_s < 16; ++rc_s) {
      short best = rc_tile_w[rc_s];

#pragma unroll
      for (int j = 1; j <= 2 * R; ++j) {
        const short x = rc_tile_w[rc_s + j];
        best = x > best ? x : best;
      }
      rc_out_v[rc_s] = best;
    }
#pragma unroll
    for (int rc_s = 0; rc_s < 16; ++rc_s) {
      rc_out_v_on[rc_s] = (g[rc_s] < n);
    }
    rcache::device::store_run<16>(out + (rc_tx + (int)(192u * rc_block_x)),
                                  rc_out_v, rc_out_v_on);
  }
}

// Launches the register-cache form of slidingMaximum where it applies, else
// slidingMaximum itself.
static inline void slidingMaximum_rc_launch(dim3 rc_grid, dim3 rc_block,
                                            size_t rc_shared,
                                            cudaStream_t rc_stream,
                                            const short *in, short *out,
                                            int n) {
  if ((rc_block.x == 192 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 192) &&
      ((double)rc_block.x * rc_grid.x <= 2147483647.0)) {
    // Merge logical blocks until a physical block has 64 threads or more.
    const unsigned int rc_threads = 12u;
    const unsigned int rc_merged = rc_threads < 64u ? 64u / rc_threads : 1u;
    const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                         rc_grid.z);
    const dim3 rc_threads_of_block(12u, rc_merged, 1);
    slidingMaximum_rc<<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(
        in, out, n, rc_grid.x);
    return;
  }

  slidingMaximum<<<rc_grid, rc_block, rc_shared, rc_stream>>>(in, out, n);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 6001);
  const std::vector<short> in = example::numbers<short>(n);
  example::Buffer<short> In(in), Out(std::vector<short>(n, -1));

  const int block = 192;
  slidingMaximum_rc_launch((n + block - 1) / block, block, 0, 0, In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<short> want(n);
  for (int g = 0; g < n; ++g) {
    short best = 0;
    for (int i = g - R; i <= g + R; ++i)
      if (i >= 0 && i < n && in[i] > best)
        best = in[i];
    want[g] = best;
  }
  return example::report("strided_staging", Out.host(), want);
}
