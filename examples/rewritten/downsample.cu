// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Halves the rate of a signal: each output weighs five inputs around every
// second one, so neighbouring threads read elements two apart.

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

constexpr int Block = 128;

// in holds 2 * n + 3 samples, out holds n.
__global__ void downsample(const float *in, float *out, int n) {
  __shared__ float s[2 * Block + 3];
  const int first = 2 * Block * blockIdx.x;
  for (int i = threadIdx.x; i < 2 * Block + 3; i += Block)
    if (first + i < 2 * n + 3)
      s[i] = in[first + i];
  __syncthreads();

  const int g = blockIdx.x * Block + threadIdx.x;
  if (g < n) {
    const int l = 2 * threadIdx.x;
    out[g] = 0.0625f * (s[l] + s[l + 4]) + 0.25f * (s[l + 1] + s[l + 3]) +
             0.375f * s[l + 2];
  }
}

__global__ void downsample_rc(const float *in, float *out, int n,
                              const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 8 threads of downsample, neighbours in
  // x.
  //   s: window of 19 registers, loaded by each thread.
  //   Barriers stay: 'out' is written and may be 'in', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.y + threadIdx.y; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                          // all threads of this logical block
  const int rc_tx = threadIdx.x * 8; // first logical thread
  // s[rc_e0] as the original stages it.
  const auto rc_s_at = [=](const int rc_e0) -> float {
    if (256 * (int)rc_block_x + rc_e0 - 2 <= 2 * n)
      return in[256 * (int)rc_block_x + rc_e0];
    return {}; // never used
  };
  // Phase: the elements of s that this thread's outputs need.
  float rc_s_w[19];
  {
    const int rc_e0 = 2 * rc_tx;
    if (256 * (int)rc_block_x + rc_e0 < 2 * n - 15) {
      rcache::device::load_run<16, 0>(rc_s_w,
                                      in + (256 * (int)rc_block_x + rc_e0));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 19; ++rc_m)
        rc_s_w[rc_m] = rc_s_at(rc_e0 + rc_m);
    }
  }
  __syncthreads();
  int g[8];
#pragma unroll
  for (int rc_s = 0; rc_s < 8; ++rc_s) {
    const unsigned int rc_thread_x = rc_tx + rc_s;
    g[rc_s] = rc_block_x * Block + rc_thread_x;
  }
  {
    float rc_out_v[8];
    bool rc_out_v_on[8] = {};
#pragma unroll
    for (int rc_s = 0; rc_s < 8; ++rc_s) {
      const unsigned int rc_thread_x = rc_tx + rc_s;
      const int l = 2 * rc_thread_x;
      rc_out_v[rc_s] = 0.0625f * (rc_s_w[2 * rc_s] + rc_s_w[2 * rc_s + 4]) +
                       0.25f * (rc_s_w[2 * rc_s + 1] + rc_s_w[2 * rc_s + 3]) +
                       0.375f * rc_s_w[2 * rc_s + 2];
    }
#pragma unroll
    for (int rc_s = 0; rc_s < 8; ++rc_s) {
      rc_out_v_on[rc_s] = (g[rc_s] < n);
    }
    rcache::device::store_run<16>(out + (rc_tx + 128 * (int)rc_block_x),
                                  rc_out_v, rc_out_v_on);
  }
}

// Launches the register-cache form of downsample where it applies, else
// downsample itself.
static inline void downsample_rc_launch(dim3 rc_grid, dim3 rc_block,
                                        size_t rc_shared,
                                        cudaStream_t rc_stream, const float *in,
                                        float *out, int n) {
  if ((rc_block.x == 128 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 128) && ((double)rc_grid.x <= 8384512.0)) {
    // Merge logical blocks until a physical block has 64 threads or more.
    const unsigned int rc_threads = 16u;
    const unsigned int rc_merged = rc_threads < 64u ? 64u / rc_threads : 1u;
    const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                         rc_grid.z);
    const dim3 rc_threads_of_block(16u, rc_merged, 1);
    downsample_rc<<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(in, out, n,
                                                                    rc_grid.x);
    return;
  }

  downsample<<<rc_grid, rc_block, rc_shared, rc_stream>>>(in, out, n);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 5000);
  const auto in = example::numbers<float>(2 * n + 3);
  example::Buffer<float> In(in), Out(std::vector<float>(n, -1.0f));

  downsample_rc_launch((n + Block - 1) / Block, Block, 0, 0, In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(n);
  for (int g = 0; g < n; ++g) {
    const float *s = &in[2 * g];
    want[g] = 0.0625f * (s[0] + s[4]) + 0.25f * (s[1] + s[3]) + 0.375f * s[2];
  }
  return example::report("downsample", Out.host(), want);
}
