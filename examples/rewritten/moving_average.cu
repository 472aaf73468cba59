// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moving average with a halo on both sides. Outputs near the ends of the array
// average fewer elements: they are set apart by if / else.

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
#ifndef RCACHE_DEVICE_SHUFFLE
#define RCACHE_DEVICE_SHUFFLE
namespace rcache {
namespace device {
/// The value that lane `lane` (0..31) publishes. All 32 lanes of the warp must
/// call it. T: trivially copyable, of any size; exchanged word by word. Taken
/// by value: `c ? a[i] : b[j]` bound to a reference would choose between
/// addresses and keep both arrays in local memory.
template <typename T> __device__ __forceinline__ T shuffle(T value, int lane) {
  constexpr int Words = (static_cast<int>(sizeof(T)) + 3) / 4;
  unsigned int words[Words] = {};
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < Words; ++i)
    words[i] = __shfl_sync(0xffffffffu, words[i], lane);
  T result;
  memcpy(&result, words, sizeof(T));
  return result;
}
} // namespace device
} // namespace rcache
#endif

#define R 5
#define BLOCK 128

__global__ void movingAverage(const int *in, int *out, int n) {
  __shared__ int tile[BLOCK + 2 * R];
  const int g = blockIdx.x * BLOCK + threadIdx.x;
  const int l = threadIdx.x + R;

  tile[l] = g < n ? in[g] : 0;
  if (threadIdx.x < R) {
    tile[l - R] = g >= R && g - R < n ? in[g - R] : 0;
    tile[l + BLOCK] = g + BLOCK < n ? in[g + BLOCK] : 0;
  }
  __syncthreads();

  if (g < n) {
    int sum = 0;
#pragma unroll
    for (int j = -R; j <= R; ++j)
      sum += tile[l + j];
    if (g >= R && g < n - R) {
      out[g] = sum / (2 * R + 1);
    } else {
      // Zeros stand outside the array: only the divisor changes.
      int first = g < R ? 0 : g - R;
      int last = g + R < n ? g + R : n - 1;
      out[g] = sum / (last - first + 1);
    }
  }
}

__global__ void movingAverage_rc(const int *in, int *out, int n,
                                 const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 2 threads of movingAverage, neighbours
  // in x.
  //   tile: window of 12 registers, chunks of 2 a lane, exchanged by shuffles.
  //   Barriers stay: 'out' is written and may be 'in', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.y + threadIdx.y; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                          // all threads of this logical block
  const int rc_tx = threadIdx.x * 2; // first logical thread
  const int rc_lane = threadIdx.x % 32;
  int g[2];
#pragma unroll
  for (int rc_s = 0; rc_s < 2; ++rc_s) {
    const unsigned int rc_thread_x = rc_tx + rc_s;

    g[rc_s] = rc_block_x * BLOCK + rc_thread_x;
  }
  // tile[rc_e0] as the original stages it.
  const auto rc_tile_at = [=](const int rc_e0) -> int {
    if (5 <= 128 * (int)rc_block_x + rc_e0 &&
        128 * (int)rc_block_x + rc_e0 - 4 <= n && rc_e0 < 138)
      return in[rc_e0 + 128 * (int)rc_block_x - 5];
    return 0;
  };
  // Phase: each lane loads its own chunk of tile; 5 lanes load what lies behind
  // the warp's last chunk.
  int rc_tile_w_own[2], rc_tile_w_next[2] = {};
  {
    const int rc_e0 = rc_tx;
    if (6 <= 128 * (int)rc_block_x + rc_e0 &&
        128 * (int)rc_block_x + rc_e0 - 3 <= n && rc_e0 < 137) {
      rcache::device::load_run<8, 1>(rc_tile_w_own,
                                     in + (rc_e0 + 128 * (int)rc_block_x - 5));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 2; ++rc_m)
        rc_tile_w_own[rc_m] = rc_tile_at(rc_e0 + rc_m);
    }
  }
  if (rc_lane < 5) {
    const int rc_e0 = rc_tx + 64;
    if (6 <= 128 * (int)rc_block_x + rc_e0 &&
        128 * (int)rc_block_x + rc_e0 - 3 <= n && rc_e0 < 137) {
      rcache::device::load_run<8, 1>(rc_tile_w_next,
                                     in + (rc_e0 + 128 * (int)rc_block_x - 5));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 2; ++rc_m)
        rc_tile_w_next[rc_m] = rc_tile_at(rc_e0 + rc_m);
    }
  }
  // Phase: the rest of the window arrives from the lanes that own it.
  int rc_tile_w[12];
#pragma unroll
  for (int rc_m = 0; rc_m < 2; ++rc_m)
    rc_tile_w[rc_m] = rc_tile_w_own[rc_m];
#pragma unroll
  for (int rc_m = 2; rc_m < 12; ++rc_m)
    rc_tile_w[rc_m] = rcache::device::shuffle(
        rc_lane < rc_m / 2 ? rc_tile_w_next[rc_m % 2] : rc_tile_w_own[rc_m % 2],
        (rc_lane + rc_m / 2) % 32);
  __syncthreads();
  {
    int sum[2];
#pragma unroll
    for (int rc_s = 0; rc_s < 2; ++rc_s) {
      sum[rc_s] = 0;
    }

#pragma unroll
    for (int j = -R; j <= R; ++j) {
#pragma unroll
      for (int rc_s = 0; rc_s < 2; ++rc_s) {
        sum[rc_s] += rc_tile_w[rc_s + j + 5];
      }
    }
#pragma unroll
    for (int rc_s = 0; rc_s < 2; ++rc_s) {
      if (!(g[rc_s] < n))
        continue;
      if (g[rc_s] >= R && g[rc_s] < n - R) {
        out[g[rc_s]] = sum[rc_s] / (2 * R + 1);
      } else {
        // Zeros stand outside the array: only the divisor changes.
        int first = g[rc_s] < R ? 0 : g[rc_s] - R;
        int last = g[rc_s] + R < n ? g[rc_s] + R : n - 1;
        out[g[rc_s]] = sum[rc_s] / (last - first + 1);
      }
    }
  }
}

// Launches the register-cache form of movingAverage where it applies, else
// movingAverage itself.
static inline void movingAverage_rc_launch(dim3 rc_grid, dim3 rc_block,
                                           size_t rc_shared,
                                           cudaStream_t rc_stream,
                                           const int *in, int *out, int n) {
  if ((rc_block.x == 128 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 128) && ((double)rc_grid.x <= 16769024.0)) {
    // Merge logical blocks until a physical block has 128 threads or more.
    const unsigned int rc_threads = 64u;
    const unsigned int rc_merged = rc_threads < 128u ? 128u / rc_threads : 1u;
    const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                         rc_grid.z);
    const dim3 rc_threads_of_block(64u, rc_merged, 1);
    movingAverage_rc<<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(
        in, out, n, rc_grid.x);
    return;
  }

  movingAverage<<<rc_grid, rc_block, rc_shared, rc_stream>>>(in, out, n);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 5003);
  const std::vector<int> in = example::numbers<int>(n);
  example::Buffer<int> In(in), Out(std::vector<int>(n, -1));

  movingAverage_rc_launch((n + BLOCK - 1) / BLOCK, BLOCK, 0, 0, In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<int> want(n);
  for (int g = 0; g < n; ++g) {
    int sum = 0, count = 0;
    for (int i = g - R; i <= g + R; ++i)
      if (i >= 0 && i < n) {
        sum += in[i];
        ++count;
      }
    want[g] = sum / count;
  }
  return example::report("moving_average", Out.host(), want);
}
