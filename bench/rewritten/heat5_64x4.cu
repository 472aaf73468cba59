// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The 5-point heat step with a halo filled by the threads at the tile's edge.
// -DBX=32 -DBY=8

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

__global__ void heat(const float *in, float *out, int w, int h) {
  __shared__ float s[BY + 2][BX + 2];
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  const int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  const bool inside = x < w && y < h;
  s[ly][lx] = inside ? in[y * w + x] : 0.0f;
  if (threadIdx.x == 0)
    s[ly][0] = x > 0 && y < h && x - 1 < w ? in[y * w + x - 1] : 0.0f;
  if (threadIdx.x == BX - 1)
    s[ly][BX + 1] = x + 1 < w && y < h ? in[y * w + x + 1] : 0.0f;
  if (threadIdx.y == 0)
    s[0][lx] = y > 0 && x < w && y - 1 < h ? in[(y - 1) * w + x] : 0.0f;
  if (threadIdx.y == BY - 1)
    s[BY + 1][lx] = y + 1 < h && x < w ? in[(y + 1) * w + x] : 0.0f;
  __syncthreads();
  if (inside)
    out[y * w + x] = 0.6f * s[ly][lx] + 0.1f * (s[ly - 1][lx] + s[ly + 1][lx] +
                                                s[ly][lx - 1] + s[ly][lx + 1]);
}

__global__ void heat_rc(const float *in, float *out, int w, int h,
                        const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 4 threads of heat, neighbours in x.
  //   s: window of 3 x 6 registers, loaded by each thread.
  //   Barriers stay: 'out' is written and may be 'in', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.z + threadIdx.z; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                          // all threads of this logical block
  const int rc_tx = threadIdx.x * 4; // first logical thread
  // s[rc_e0][rc_e1] as the original stages it.
  const auto rc_s_at = [=](const int rc_e0, const int rc_e1) -> float {
    if (1 <= rc_e1 && rc_e1 < 65 && rc_e0 == 5 &&
        64 * (int)rc_block_x + rc_e1 <= w && 4 * (int)blockIdx.y < h - 4)
      return in[rc_e1 + 64 * (int)rc_block_x + 4 * w +
                4 * (int)(blockIdx.y * w) - 1];
    if ((1 <= (int)rc_block_x + rc_e1 && 1 <= (int)blockIdx.y + rc_e0 &&
         w < 64 * (int)rc_block_x + rc_e1) ||
        (1 <= (int)rc_block_x + rc_e1 && 64 * (int)rc_block_x + rc_e1 <= w &&
         1 <= (int)blockIdx.y + rc_e0 && h < 4 * (int)blockIdx.y + rc_e0) ||
        ((int)blockIdx.y == 0 && rc_e0 == 0) ||
        ((int)rc_block_x == 0 && rc_e1 == 0))
      return 0.0f;
    if (1 <= (int)blockIdx.y && 4 * (int)blockIdx.y <= h && 1 <= rc_e1 &&
        rc_e1 < 65 && rc_e0 == 0 && 64 * (int)rc_block_x + rc_e1 <= w)
      return in[rc_e1 + 64 * (int)rc_block_x + 4 * (int)(blockIdx.y * w) - w -
                1];
    if (1 <= rc_e1 && rc_e1 < 66 && 1 <= rc_e0 && rc_e0 < 5 &&
        64 * (int)rc_block_x + rc_e1 <= w && 4 * (int)blockIdx.y + rc_e0 <= h)
      return in[rc_e1 + 64 * (int)rc_block_x + (rc_e0 * w) +
                4 * (int)(blockIdx.y * w) - w - 1];
    if (1 <= (int)rc_block_x && 64 * (int)rc_block_x <= w && rc_e1 == 0 &&
        1 <= rc_e0 && rc_e0 < 5 && 4 * (int)blockIdx.y + rc_e0 <= h)
      return in[64 * (int)rc_block_x + (rc_e0 * w) + 4 * (int)(blockIdx.y * w) -
                w - 1];
    return {}; // never used
  };
  // Phase: the elements of s that this thread's outputs need.
  float rc_s_w[3][6];
  {
#pragma unroll
    for (int rc_r0 = 0; rc_r0 < 3; ++rc_r0) {
      const int rc_e0 = (int)threadIdx.y + rc_r0;
      const int rc_e1 = rc_tx;
      if (1 <= rc_e1 && rc_e1 < 61 && 1 <= rc_e0 && rc_e0 < 3 &&
          64 * (int)rc_block_x + rc_e1 < w - 4 &&
          4 * (int)blockIdx.y + rc_e0 < h - 1) {
        rcache::device::load_run<16, 1>(
            rc_s_w[rc_r0], in + (rc_e1 + 64 * (int)rc_block_x + (rc_e0 * w) +
                                 4 * (int)(blockIdx.y * w) - w - 1));
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
    const bool inside = x < w && y < h;
    if (inside) {
      rc_out_v[rc_s] = 0.6f * rc_s_w[1][rc_s + 1] +
                       0.1f * (rc_s_w[0][rc_s + 1] + rc_s_w[2][rc_s + 1] +
                               rc_s_w[1][rc_s] + rc_s_w[1][rc_s + 2]);
      rc_out_v_on[rc_s] = true;
    }
  }
  rcache::device::store_run<16>(out + (rc_tx + 64 * (int)rc_block_x +
                                       (int)(threadIdx.y * w) +
                                       4 * (int)(blockIdx.y * w)),
                                rc_out_v, rc_out_v_on);
}

// Launches the register-cache form of heat where it applies, else heat itself.
static inline void heat_rc_launch(dim3 rc_grid, dim3 rc_block, size_t rc_shared,
                                  cudaStream_t rc_stream, const float *in,
                                  float *out, int w, int h) {
  if ((rc_block.x == 64 && rc_block.y == 4 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 64) && ((double)rc_grid.x <= 16777216.0)) {
    // Merge logical blocks until a physical block has 128 threads or more.
    const unsigned int rc_threads = 64u;
    const unsigned int rc_merged = rc_threads < 128u ? 128u / rc_threads : 1u;
    const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                         rc_grid.z);
    const dim3 rc_threads_of_block(16u, 4u, rc_merged);
    heat_rc<<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(in, out, w, h,
                                                              rc_grid.x);
    return;
  }

  heat<<<rc_grid, rc_block, rc_shared, rc_stream>>>(in, out, w, h);
}

static void launch(const float *in, float *out, int w, int h) {
  heat_rc_launch(dim3((w + BX - 1) / BX, (h + BY - 1) / BY), dim3(BX, BY), 0, 0, in, out, w, h);
}

int main(int argc, char **argv) {
  bench::measure2d<float>(bench::label(argc, argv), "heat5",
                          STRING(BX) "x" STRING(BY), 6, launch);
  return 0;
}
