// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A grid of fixed size walks over the array tile by tile: staging and use stand
// in a loop, between two barriers; a total lives across the tiles.

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

#define BLOCK 256
#define R 4

// in holds n + 2 * R elements; out holds n; totals one element a thread.
__global__ void smooth(const float *in, float *out, float *totals, int n) {
  __shared__ float tile[BLOCK + 2 * R];
  float total = 0;
  for (int base = blockIdx.x * BLOCK; base < n; base += gridDim.x * BLOCK) {
    const int g = base + threadIdx.x;
    if (g < n + 2 * R)
      tile[threadIdx.x] = in[g];
    if (threadIdx.x < 2 * R && g + BLOCK < n + 2 * R)
      tile[threadIdx.x + BLOCK] = in[g + BLOCK];
    __syncthreads();
    if (g < n) {
      float sum = 0;
      for (int j = 0; j <= 2 * R; ++j)
        sum += tile[threadIdx.x + j];
      out[g] = sum * 0.125f;
      total += sum;
    }
    __syncthreads();
  }
  totals[blockIdx.x * BLOCK + threadIdx.x] = total;
}

__global__ void smooth_rc(const float *in, float *out, float *totals, int n,
                          const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 2 threads of smooth, neighbours in x.
  //   tile: window of 10 registers, loaded by each thread.
  //   Barriers stay: 'out' is written and may be 'in', which is read.
  const unsigned int rc_block_x = blockIdx.x;
  const int rc_tx = threadIdx.x * 2; // first logical thread
  float total[2];
#pragma unroll
  for (int rc_s = 0; rc_s < 2; ++rc_s) {

    total[rc_s] = 0;
  }
  for (int base = rc_block_x * BLOCK; base < n; base += rc_grid_x * BLOCK) {
    int g[2];
#pragma unroll
    for (int rc_s = 0; rc_s < 2; ++rc_s) {
      const unsigned int rc_thread_x = rc_tx + rc_s;
      g[rc_s] = base + rc_thread_x;
    }
    // tile[rc_e0] as the original stages it.
    const auto rc_tile_at = [=](const int rc_e0) -> float {
      if (256 * (int)rc_block_x <= base && base < n && rc_e0 + base - 7 <= n)
        return in[rc_e0 + base];
      return {}; // never used
    };
    // Phase: the elements of tile that this thread's outputs need.
    float rc_tile_w[10];
    {
      const int rc_e0 = rc_tx;
      if (256 * (int)rc_block_x <= base && rc_e0 + base < n - 1) {
        rcache::device::load_run<8, 0>(rc_tile_w, in + (rc_e0 + base));
      } else {
#pragma unroll
        for (int rc_m = 0; rc_m < 10; ++rc_m)
          rc_tile_w[rc_m] = rc_tile_at(rc_e0 + rc_m);
      }
    }
    __syncthreads();
#pragma unroll
    for (int rc_s = 0; rc_s < 2; ++rc_s) {
      if (g[rc_s] < n) {
        float sum = 0;

#pragma unroll
        for (int j = 0; j <= 2 * R; ++j)
          sum += rc_tile_w[rc_s + j];
        out[g[rc_s]] = sum * 0.125f;
        total[rc_s] += sum;
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int rc_s = 0; rc_s < 2; ++rc_s) {
    const unsigned int rc_thread_x = rc_tx + rc_s;
    totals[rc_block_x * BLOCK + rc_thread_x] = total[rc_s];
  }
}

// Launches the register-cache form of smooth where it applies, else smooth
// itself.
static inline void smooth_rc_launch(dim3 rc_grid, dim3 rc_block,
                                    size_t rc_shared, cudaStream_t rc_stream,
                                    const float *in, float *out, float *totals,
                                    int n) {
  if ((rc_block.x == 256 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 256) && ((double)rc_grid.x <= 8384512.0) &&
      (n >= 0 && (double)n <= 2147418112.0)) {
    smooth_rc<<<rc_grid, dim3(128u, 1u, 1u), 0, rc_stream>>>(in, out, totals, n,
                                                             rc_grid.x);
    return;
  }

  smooth<<<rc_grid, rc_block, rc_shared, rc_stream>>>(in, out, totals, n);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 20000), blocks = 12;
  const auto in = example::numbers<float>(n + 2 * R);
  example::Buffer<float> In(in), Out(std::vector<float>(n, -1.0f)),
      Totals(std::vector<float>(blocks * BLOCK, -1.0f));

  smooth_rc_launch(blocks, BLOCK, 0, 0, In.data(), Out.data(), Totals.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(n), totals(blocks * BLOCK, 0.0f);
  for (int g = 0; g < n; ++g) {
    float sum = 0;
    for (int j = 0; j <= 2 * R; ++j)
      sum += in[g + j];
    want[g] = sum * 0.125f;
    totals[g % (blocks * BLOCK)] += sum;
  }
  return example::report("tile_loop", Out.host(), want) |
         example::report("tile_loop totals", Totals.host(), totals);
}
