// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel template for several element types and radii.

#include "example.h"
#ifndef RCACHE_DEVICE_SAME
#define RCACHE_DEVICE_SAME
namespace rcache {
namespace device {
/// Whether two types are one: tells instantiations of a template apart.
template <typename A, typename B> struct same {
  static constexpr bool value = false;
};
template <typename A> struct same<A, A> {
  static constexpr bool value = true;
};
} // namespace device
} // namespace rcache
#endif
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

namespace filters {

template <typename T, int Radius, int Block>
__global__ void box(const T *in, T *out, int n) {
  __shared__ T tile[Block + 2 * Radius];
  const int g = blockIdx.x * Block + threadIdx.x - Radius;
  const T zero = T();
  tile[threadIdx.x] = g >= 0 && g < n ? in[g] : zero;
  if (threadIdx.x < 2 * Radius)
    tile[threadIdx.x + Block] = g + Block < n ? in[g + Block] : zero;
  __syncthreads();
  if (g + Radius < n) {
    T sum = zero;
#pragma unroll
    for (int j = 0; j < 2 * Radius + 1; ++j)
      sum += tile[threadIdx.x + j];
    out[g + Radius] = sum;
  }
}

template <typename T, int Radius, int Block>
__global__ void box_rc(const T *in, T *out, int n,
                       const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 4 threads of box, neighbours in x.
  //   tile: window of 8 registers, loaded by each thread.
  //   Barriers stay: 'out' is written and may be 'in', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.y + threadIdx.y; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                          // all threads of this logical block
  const int rc_tx = threadIdx.x * 4; // first logical thread
  const T zero = T();
  int g[4];
#pragma unroll
  for (int rc_s = 0; rc_s < 4; ++rc_s) {
    const unsigned int rc_thread_x = rc_tx + rc_s;

    g[rc_s] = rc_block_x * Block + rc_thread_x - Radius;
  }
  // tile[rc_e0] as the original stages it.
  const auto rc_tile_at = [=](const int rc_e0) -> T {
    if (2 <= 256 * (int)rc_block_x + rc_e0 &&
        256 * (int)rc_block_x + rc_e0 - 1 <= n)
      return in[rc_e0 + 256 * (int)rc_block_x - 2];
    return __fadd_rn(T(), -0.0f);
  };
  // Phase: the elements of tile that this thread's outputs need.
  T rc_tile_w[8];
  {
    const int rc_e0 = rc_tx;
    if (4 <= 256 * (int)rc_block_x + rc_e0 &&
        256 * (int)rc_block_x + rc_e0 < n - 5) {
      rcache::device::load_run<16, 2>(rc_tile_w,
                                      in + (rc_e0 + 256 * (int)rc_block_x - 2));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 8; ++rc_m)
        rc_tile_w[rc_m] = rc_tile_at(rc_e0 + rc_m);
    }
  }
  __syncthreads();
  {
    float rc_out_v[4];
    bool rc_out_v_on[4] = {};
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      T sum = zero;

#pragma unroll
      for (int j = 0; j < 2 * Radius + 1; ++j)
        sum += rc_tile_w[rc_s + j];
      rc_out_v[rc_s] = sum;
    }
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      rc_out_v_on[rc_s] = (g[rc_s] + Radius < n);
    }
    rcache::device::store_run<16>(out + (rc_tx + 256 * (int)rc_block_x),
                                  rc_out_v, rc_out_v_on);
  }
}

template <typename T, int Radius, int Block>
__global__ void box_rc_2(const T *in, T *out, int n,
                         const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 8 threads of box, neighbours in x.
  //   tile: window of 16 registers, loaded by each thread.
  //   Barriers stay: 'out' is written and may be 'in', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.y + threadIdx.y; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                          // all threads of this logical block
  const int rc_tx = threadIdx.x * 8; // first logical thread
  const T zero = T();
  int g[8];
#pragma unroll
  for (int rc_s = 0; rc_s < 8; ++rc_s) {
    const unsigned int rc_thread_x = rc_tx + rc_s;

    g[rc_s] = rc_block_x * Block + rc_thread_x - Radius;
  }
  // tile[rc_e0] as the original stages it.
  const auto rc_tile_at = [=](const int rc_e0) -> T {
    if (4 <= 128 * (int)rc_block_x + rc_e0 &&
        128 * (int)rc_block_x + rc_e0 - 3 <= n)
      return in[rc_e0 + 128 * (int)rc_block_x - 4];
    return __dadd_rn(T(), -0.0);
  };
  // Phase: the elements of tile that this thread's outputs need.
  T rc_tile_w[16];
  {
    const int rc_e0 = rc_tx;
    if (8 <= 128 * (int)rc_block_x + rc_e0 &&
        128 * (int)rc_block_x + rc_e0 < n - 11) {
      rcache::device::load_run<16, 0>(rc_tile_w,
                                      in + (rc_e0 + 128 * (int)rc_block_x - 4));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 16; ++rc_m)
        rc_tile_w[rc_m] = rc_tile_at(rc_e0 + rc_m);
    }
  }
  __syncthreads();
  {
    double rc_out_v[8];
    bool rc_out_v_on[8] = {};
#pragma unroll
    for (int rc_s = 0; rc_s < 8; ++rc_s) {
      T sum = zero;

#pragma unroll
      for (int j = 0; j < 2 * Radius + 1; ++j)
        sum += rc_tile_w[rc_s + j];
      rc_out_v[rc_s] = sum;
    }
#pragma unroll
    for (int rc_s = 0; rc_s < 8; ++rc_s) {
      rc_out_v_on[rc_s] = (g[rc_s] + Radius < n);
    }
    rcache::device::store_run<16>(out + (rc_tx + 128 * (int)rc_block_x),
                                  rc_out_v, rc_out_v_on);
  }
}

template <typename T, int Radius, int Block>
__global__ void box_rc_3(const T *in, T *out, int n,
                         const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 8 threads of box, neighbours in x.
  //   tile: window of 28 registers, chunks of 8 a lane, exchanged by shuffles.
  //   Barriers stay: 'out' is written and may be 'in', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.y + threadIdx.y; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                          // all threads of this logical block
  const int rc_tx = threadIdx.x * 8; // first logical thread
  const int rc_lane = threadIdx.x % 32;
  const T zero = T();
  int g[8];
#pragma unroll
  for (int rc_s = 0; rc_s < 8; ++rc_s) {
    const unsigned int rc_thread_x = rc_tx + rc_s;

    g[rc_s] = rc_block_x * Block + rc_thread_x - Radius;
  }
  // tile[rc_e0] as the original stages it.
  const auto rc_tile_at = [=](const int rc_e0) -> T {
    if (10 <= 256 * (int)rc_block_x + rc_e0 &&
        256 * (int)rc_block_x + rc_e0 - 9 <= n && rc_e0 < 276)
      return in[rc_e0 + 256 * (int)rc_block_x - 10];
    return 0;
  };
  // Phase: each lane loads its own chunk of tile; 3 lanes load what lies behind
  // the warp's last chunk.
  T rc_tile_w_own[8], rc_tile_w_next[8] = {};
  {
    const int rc_e0 = rc_tx;
    if (16 <= 256 * (int)rc_block_x + rc_e0 &&
        256 * (int)rc_block_x + rc_e0 - 2 <= n && rc_e0 < 265) {
      rcache::device::load_run<16, 2>(
          rc_tile_w_own, in + (rc_e0 + 256 * (int)rc_block_x - 10));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 8; ++rc_m)
        rc_tile_w_own[rc_m] = rc_tile_at(rc_e0 + rc_m);
    }
  }
  if (rc_lane < 3) {
    const int rc_e0 = rc_tx + 256;
    if (16 <= 256 * (int)rc_block_x + rc_e0 &&
        256 * (int)rc_block_x + rc_e0 - 2 <= n && rc_e0 < 265) {
      rcache::device::load_run<16, 2>(
          rc_tile_w_next, in + (rc_e0 + 256 * (int)rc_block_x - 10));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 8; ++rc_m)
        rc_tile_w_next[rc_m] = rc_tile_at(rc_e0 + rc_m);
    }
  }
  // Phase: the rest of the window arrives from the lanes that own it.
  T rc_tile_w[28];
#pragma unroll
  for (int rc_m = 0; rc_m < 8; ++rc_m)
    rc_tile_w[rc_m] = rc_tile_w_own[rc_m];
#pragma unroll
  for (int rc_m = 8; rc_m < 28; ++rc_m)
    rc_tile_w[rc_m] = rcache::device::shuffle(
        rc_lane < rc_m / 8 ? rc_tile_w_next[rc_m % 8] : rc_tile_w_own[rc_m % 8],
        (rc_lane + rc_m / 8) % 32);
  __syncthreads();
  {
    T sum[8];
#pragma unroll
    for (int rc_s = 0; rc_s < 8; ++rc_s) {
      sum[rc_s] = zero;
    }

#pragma unroll
    for (int j = 0; j < 2 * Radius + 1; ++j) {
#pragma unroll
      for (int rc_s = 0; rc_s < 8; ++rc_s) {
        sum[rc_s] += rc_tile_w[rc_s + j];
      }
    }
    int rc_out_v[8];
    bool rc_out_v_on[8] = {};
#pragma unroll
    for (int rc_s = 0; rc_s < 8; ++rc_s) {
      rc_out_v[rc_s] = sum[rc_s];
    }
#pragma unroll
    for (int rc_s = 0; rc_s < 8; ++rc_s) {
      rc_out_v_on[rc_s] = (g[rc_s] + Radius < n);
    }
    rcache::device::store_run<16>(out + (rc_tx + 256 * (int)rc_block_x),
                                  rc_out_v, rc_out_v_on);
  }
}

// Launches the register-cache form of box where it applies, else box itself.
template <typename T, int Radius, int Block>
static inline void box_rc_launch(dim3 rc_grid, dim3 rc_block, size_t rc_shared,
                                 cudaStream_t rc_stream, const T *in, T *out,
                                 int n) {
  if constexpr (rcache::device::same<T, float>::value && (Radius == 2) &&
                (Block == 256)) {
    if ((rc_block.x == 256 && rc_block.y == 1 && rc_block.z == 1) &&
        (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
        (rc_grid.x <= 0x7fffffffu / 256) && ((double)rc_grid.x <= 8384512.0)) {
      // Merge logical blocks until a physical block has 128 threads or more.
      const unsigned int rc_threads = 64u;
      const unsigned int rc_merged = rc_threads < 128u ? 128u / rc_threads : 1u;
      const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                           rc_grid.z);
      const dim3 rc_threads_of_block(64u, rc_merged, 1);
      box_rc<T, Radius, Block>
          <<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(in, out, n,
                                                             rc_grid.x);
      return;
    }
  } else if constexpr (rcache::device::same<T, double>::value &&
                       (Radius == 4) && (Block == 128)) {
    if ((rc_block.x == 128 && rc_block.y == 1 && rc_block.z == 1) &&
        (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
        (rc_grid.x <= 0x7fffffffu / 128) && ((double)rc_grid.x <= 16769024.0)) {
      // Merge logical blocks until a physical block has 64 threads or more.
      const unsigned int rc_threads = 16u;
      const unsigned int rc_merged = rc_threads < 64u ? 64u / rc_threads : 1u;
      const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                           rc_grid.z);
      const dim3 rc_threads_of_block(16u, rc_merged, 1);
      box_rc_2<T, Radius, Block>
          <<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(in, out, n,
                                                             rc_grid.x);
      return;
    }
  } else if constexpr (rcache::device::same<T, int>::value && (Radius == 10) &&
                       (Block == 256)) {
    if ((rc_block.x == 256 && rc_block.y == 1 && rc_block.z == 1) &&
        (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
        (rc_grid.x <= 0x7fffffffu / 256) && ((double)rc_grid.x <= 8384512.0)) {
      // Merge logical blocks until a physical block has 64 threads or more.
      const unsigned int rc_threads = 32u;
      const unsigned int rc_merged = rc_threads < 64u ? 64u / rc_threads : 1u;
      const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                           rc_grid.z);
      const dim3 rc_threads_of_block(32u, rc_merged, 1);
      box_rc_3<T, Radius, Block>
          <<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(in, out, n,
                                                             rc_grid.x);
      return;
    }
  }
  box<T, Radius, Block>
      <<<rc_grid, rc_block, rc_shared, rc_stream>>>(in, out, n);
}

} // namespace filters

template <typename T, int Radius, int Block>
static int run(const char *name, int n) {
  const auto in = example::numbers<T>(n);
  example::Buffer<T> In(in), Out(std::vector<T>(n, T(7)));
  filters::box_rc_launch<T, Radius, Block>((n + Block - 1) / Block, Block, 0, 0, In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());
  std::vector<T> want(n);
  for (int g = 0; g < n; ++g) {
    T sum = T();
    for (int i = g - Radius; i <= g + Radius; ++i)
      sum += i >= 0 && i < n ? in[i] : T();
    want[g] = sum;
  }
  return example::report(name, Out.host(), want);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 4097);
  return run<float, 2, 256>("templated float, radius 2", n) |
         run<double, 4, 128>("templated double, radius 4", n) |
         run<int, 10, 256>("templated int, radius 10", n);
}
