// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A 5 x 5 image convolution: weights in constant memory, a tile with its halo
// filled by strided loops in both dimensions, zeros outside the image.

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

#define R 2
#define TILE_X 32
#define TILE_Y 8

__constant__ float mask[(2 * R + 1) * (2 * R + 1)];

__global__ void convolve(const float *in, float *out, int width, int height) {
  __shared__ float tile[TILE_Y + 2 * R][TILE_X + 2 * R];
  const int x = blockIdx.x * TILE_X + threadIdx.x;
  const int y = blockIdx.y * TILE_Y + threadIdx.y;
  for (int j = threadIdx.y; j < TILE_Y + 2 * R; j += TILE_Y)
    for (int i = threadIdx.x; i < TILE_X + 2 * R; i += TILE_X) {
      const int sx = blockIdx.x * TILE_X + i - R;
      const int sy = blockIdx.y * TILE_Y + j - R;
      tile[j][i] = sx >= 0 && sx < width && sy >= 0 && sy < height
                       ? in[sy * width + sx]
                       : 0.0f;
    }
  __syncthreads();

  if (x < width && y < height) {
    float sum = 0;
#pragma unroll
    for (int j = 0; j <= 2 * R; ++j)
#pragma unroll
      for (int i = 0; i <= 2 * R; ++i)
        sum +=
            mask[j * (2 * R + 1) + i] * tile[threadIdx.y + j][threadIdx.x + i];
    out[y * width + x] = sum;
  }
}

__global__ void convolve_rc(const float *in, float *out, int width, int height,
                            const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 16 threads of convolve, neighbours in
  // x.
  //   tile: window of 8 x 8 registers, loaded by each thread.
  //   Barriers stay: 'out' is written and may be 'in', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * (blockDim.x / 8u) + threadIdx.x / 8u; // logical block
  if (rc_block_x >= rc_grid_x)
    return; // all threads of this logical block
  const int rc_tx = (int)(threadIdx.x % 8u) * 4; // first logical thread
  const int rc_ty = threadIdx.y * 4;             // first logical thread
  int x[4][4];
  int y[4][4];
#pragma unroll
  for (int rc_sy = 0; rc_sy < 4; ++rc_sy)
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      const unsigned int rc_thread_y = rc_ty + rc_sy;
      const unsigned int rc_thread_x = rc_tx + rc_s;

      x[rc_sy][rc_s] = rc_block_x * TILE_X + rc_thread_x;
      y[rc_sy][rc_s] = blockIdx.y * TILE_Y + rc_thread_y;
    }
  // tile[rc_e0][rc_e1] as the original stages it.
  const auto rc_tile_at = [=](const int rc_e0, const int rc_e1) -> float {
    if (2 <= 32 * (int)rc_block_x + rc_e1 &&
        32 * (int)rc_block_x + rc_e1 - 1 <= width &&
        2 <= 8 * (int)blockIdx.y + rc_e0 &&
        8 * (int)blockIdx.y + rc_e0 - 1 <= height)
      return in[rc_e1 + 32 * (int)rc_block_x + (rc_e0 * width) +
                8 * (int)(blockIdx.y * width) - 2 * width - 2];
    return 0.0f;
  };
  // Phase: the elements of tile that this thread's outputs need.
  float rc_tile_w[8][8];
  bool rc_tile_w_inside;
  {
    const int rc_e0 = rc_ty;
    const int rc_e1 = rc_tx;
    rc_tile_w_inside = 4 <= 32 * (int)rc_block_x + rc_e1 &&
                       32 * (int)rc_block_x + rc_e1 < width - 5 &&
                       4 <= 8 * (int)blockIdx.y + rc_e0 &&
                       8 * (int)blockIdx.y + rc_e0 < height - 5;
  }
  if (rc_tile_w_inside) {
#pragma unroll
    for (int rc_r0 = 0; rc_r0 < 8; ++rc_r0) {
      const int rc_e0 = rc_ty + rc_r0;
      const int rc_e1 = rc_tx;
      rcache::device::load_run<16, 2>(
          rc_tile_w[rc_r0],
          in + (rc_e1 + 32 * (int)rc_block_x + (rc_e0 * width) +
                8 * (int)(blockIdx.y * width) - 2 * width - 2));
    }
  } else {
#pragma unroll
    for (int rc_r0 = 0; rc_r0 < 8; ++rc_r0) {
      const int rc_e0 = rc_ty + rc_r0;
      const int rc_e1 = rc_tx;
#pragma unroll
      for (int rc_m = 0; rc_m < 8; ++rc_m)
        rc_tile_w[rc_r0][rc_m] = rc_tile_at(rc_e0, rc_e1 + rc_m);
    }
  }
  __syncthreads();
  {
    float sum[4][4];
#pragma unroll
    for (int rc_sy = 0; rc_sy < 4; ++rc_sy)
#pragma unroll
      for (int rc_s = 0; rc_s < 4; ++rc_s) {
        sum[rc_sy][rc_s] = 0;
      }

#pragma unroll
    for (int j = 0; j <= 2 * R; ++j) {

#pragma unroll
      for (int i = 0; i <= 2 * R; ++i) {
#pragma unroll
        for (int rc_sy = 0; rc_sy < 4; ++rc_sy)
#pragma unroll
          for (int rc_s = 0; rc_s < 4; ++rc_s) {
            sum[rc_sy][rc_s] +=
                mask[j * (2 * R + 1) + i] * rc_tile_w[rc_sy + j][rc_s + i];
          }
      }
    }
    float rc_out_v[4][4];
    bool rc_out_v_on[4][4] = {};
#pragma unroll
    for (int rc_sy = 0; rc_sy < 4; ++rc_sy)
#pragma unroll
      for (int rc_s = 0; rc_s < 4; ++rc_s) {
        rc_out_v[rc_sy][rc_s] = sum[rc_sy][rc_s];
      }
#pragma unroll
    for (int rc_sy = 0; rc_sy < 4; ++rc_sy)
#pragma unroll
      for (int rc_s = 0; rc_s < 4; ++rc_s) {
        rc_out_v_on[rc_sy][rc_s] =
            (x[rc_sy][rc_s] < width && y[rc_sy][rc_s] < height);
      }
#pragma unroll
    for (int rc_sy = 0; rc_sy < 4; ++rc_sy)
      rcache::device::store_run<16>(out + (rc_tx + 32 * (int)rc_block_x +
                                           (int)((rc_ty + rc_sy) * width) +
                                           8 * (int)(blockIdx.y * width)),
                                    rc_out_v[rc_sy], rc_out_v_on[rc_sy]);
  }
}

// Launches the register-cache form of convolve where it applies, else convolve
// itself.
static inline void convolve_rc_launch(dim3 rc_grid, dim3 rc_block,
                                      size_t rc_shared, cudaStream_t rc_stream,
                                      const float *in, float *out, int width,
                                      int height) {
  if ((rc_block.x == 32 && rc_block.y == 8 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 32) && ((double)rc_grid.x <= 67076096.0)) {
    // Merge logical blocks side by side: rows of a warp or more.
    const unsigned int rc_merged = 8u;
    const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                         rc_grid.z);
    const dim3 rc_threads_of_block(8u * rc_merged, 2u, 1u);
    convolve_rc<<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(
        in, out, width, height, rc_grid.x);
    return;
  }

  convolve<<<rc_grid, rc_block, rc_shared, rc_stream>>>(in, out, width, height);
}

int main(int argc, char **argv) {
  const int width = example::argument(argc, argv, 203), height = 101;
  const auto in = example::numbers<float>(size_t(width) * height);
  float weights[(2 * R + 1) * (2 * R + 1)];
  for (int i = 0; i < (2 * R + 1) * (2 * R + 1); ++i)
    weights[i] = float(i * 7 % 23 - 9) / 64.0f;
  EXAMPLE_CHECK(cudaMemcpyToSymbol(mask, weights, sizeof weights));
  example::Buffer<float> In(in), Out(std::vector<float>(in.size(), -1.0f));

  const dim3 block(TILE_X, TILE_Y);
  const dim3 grid((width + TILE_X - 1) / TILE_X,
                  (height + TILE_Y - 1) / TILE_Y);
  convolve_rc_launch(grid, block, 0, 0, In.data(), Out.data(), width, height);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(in.size());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      for (int j = -R; j <= R; ++j)
        for (int i = -R; i <= R; ++i)
          if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height)
            sum += weights[(j + R) * (2 * R + 1) + i + R] *
                   in[(y + j) * width + x + i];
      want[y * width + x] = sum;
    }
  return example::report("convolution2d", Out.host(), want);
}
