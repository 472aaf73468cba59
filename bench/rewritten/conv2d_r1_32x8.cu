// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// (2 R + 1)^2 convolution of an image of floats, weights in constant memory,
// zeros outside; tile and halo filled by strided loops. -DR=2 -DBX=32 -DBY=8

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

constexpr int D = 2 * R + 1;
__constant__ float W[D * D];

__global__ void convolve(const float *in, float *out, int w, int h) {
  __shared__ float s[BY + 2 * R][BX + 2 * R];
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  for (int j = threadIdx.y; j < BY + 2 * R; j += BY)
    for (int i = threadIdx.x; i < BX + 2 * R; i += BX) {
      const int sy = blockIdx.y * BY + j - R, sx = blockIdx.x * BX + i - R;
      s[j][i] = sy >= 0 && sy < h && sx >= 0 && sx < w ? in[sy * w + sx] : 0.0f;
    }
  __syncthreads();
  if (x < w && y < h) {
    float sum = 0;
#pragma unroll
    for (int j = 0; j < D; ++j)
#pragma unroll
      for (int i = 0; i < D; ++i)
        sum += W[j * D + i] * s[threadIdx.y + j][threadIdx.x + i];
    out[y * w + x] = sum;
  }
}

__global__ void convolve_rc(const float *in, float *out, int w, int h,
                            const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 4 threads of convolve, neighbours in x.
  //   s: window of 3 x 6 registers, loaded by each thread.
  //   Barriers stay: 'out' is written and may be 'in', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.z + threadIdx.z; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                          // all threads of this logical block
  const int rc_tx = threadIdx.x * 4; // first logical thread
  // s[rc_e0][rc_e1] as the original stages it.
  const auto rc_s_at = [=](const int rc_e0, const int rc_e1) -> float {
    if (1 <= 32 * (int)rc_block_x + rc_e1 &&
        32 * (int)rc_block_x + rc_e1 <= w && rc_e1 < 34 &&
        1 <= 8 * (int)blockIdx.y + rc_e0 && 8 * (int)blockIdx.y + rc_e0 <= h)
      return in[rc_e1 + 32 * (int)rc_block_x + (rc_e0 * w) +
                8 * (int)(blockIdx.y * w) - w - 1];
    return 0.0f;
  };
  // Phase: the elements of s that this thread's outputs need.
  float rc_s_w[3][6];
  {
#pragma unroll
    for (int rc_r0 = 0; rc_r0 < 3; ++rc_r0) {
      const int rc_e0 = (int)threadIdx.y + rc_r0;
      const int rc_e1 = rc_tx;
      if (1 <= 32 * (int)rc_block_x + rc_e1 &&
          32 * (int)rc_block_x + rc_e1 < w - 4 && rc_e1 < 29 &&
          1 <= 8 * (int)blockIdx.y + rc_e0 &&
          8 * (int)blockIdx.y + rc_e0 < h - 1) {
        rcache::device::load_run<16, 1>(
            rc_s_w[rc_r0], in + (rc_e1 + 32 * (int)rc_block_x + (rc_e0 * w) +
                                 8 * (int)(blockIdx.y * w) - w - 1));
      } else {
#pragma unroll
        for (int rc_m = 0; rc_m < 6; ++rc_m)
          rc_s_w[rc_r0][rc_m] = rc_s_at(rc_e0, rc_e1 + rc_m);
      }
    }
  }
  __syncthreads();
  float rc_out_v[4];
  bool rc_out_v_on[4] = {};
#pragma unroll
  for (int rc_s = 0; rc_s < 4; ++rc_s) {
    const unsigned int rc_thread_x = rc_tx + rc_s;
    const int x = rc_block_x * BX + rc_thread_x;
    const int y = blockIdx.y * BY + threadIdx.y;
    if (x < w && y < h) {
      float sum = 0;
#pragma unroll
      for (int j = 0; j < D; ++j)
#pragma unroll
        for (int i = 0; i < D; ++i)
          sum += W[j * D + i] * rc_s_w[j][rc_s + i];
      rc_out_v[rc_s] = sum;
      rc_out_v_on[rc_s] = true;
    }
  }
  rcache::device::store_run<16>(out + (rc_tx + 32 * (int)rc_block_x +
                                       (int)(threadIdx.y * w) +
                                       8 * (int)(blockIdx.y * w)),
                                rc_out_v, rc_out_v_on);
}

// Launches the register-cache form of convolve where it applies, else convolve
// itself.
static inline void convolve_rc_launch(dim3 rc_grid, dim3 rc_block,
                                      size_t rc_shared, cudaStream_t rc_stream,
                                      const float *in, float *out, int w,
                                      int h) {
  if ((rc_block.x == 32 && rc_block.y == 8 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 32) && ((double)rc_grid.x <= 33554432.0)) {
    // Merge logical blocks until a physical block has 128 threads or more.
    const unsigned int rc_threads = 64u;
    const unsigned int rc_merged = rc_threads < 128u ? 128u / rc_threads : 1u;
    const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                         rc_grid.z);
    const dim3 rc_threads_of_block(8u, 8u, rc_merged);
    convolve_rc<<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(in, out, w, h,
                                                                  rc_grid.x);
    return;
  }

  convolve<<<rc_grid, rc_block, rc_shared, rc_stream>>>(in, out, w, h);
}

static void launch(const float *in, float *out, int w, int h) {
  convolve_rc_launch(dim3((w + BX - 1) / BX, (h + BY - 1) / BY), dim3(BX, BY), 0, 0, in, out, w, h);
}

int main(int argc, char **argv) {
  float weights[D * D];
  for (int i = 0; i < D * D; ++i)
    weights[i] = 0.01f * float(i + 1) - 0.003f * float(i % 7);
  BENCH_CHECK(cudaMemcpyToSymbol(W, weights, sizeof weights));
  bench::measure2d<float>(bench::label(argc, argv), "conv2d-r" STRING(R),
                          STRING(BX) "x" STRING(BY), 2.0 * D * D, launch);
  return 0;
}
