// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A FIR filter: weights in constant memory, the signal staged with a halo that
// repeats the first and the last sample (clamped borders).

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

constexpr int Radius = 6;
constexpr int Taps = 2 * Radius + 1;
constexpr int Block = 256;

__constant__ float weights[Taps];

__global__ void __launch_bounds__(Block)
    fir(const float *__restrict__ signal, float *__restrict__ filtered, int n) {
  __shared__ float window[Block + 2 * Radius];
  const int g = blockIdx.x * Block + threadIdx.x;

  window[threadIdx.x + Radius] = signal[min(g, n - 1)];
  if (threadIdx.x < Radius)
    window[threadIdx.x] = signal[min(max(g - Radius, 0), n - 1)];
  if (threadIdx.x >= Block - Radius)
    window[threadIdx.x + 2 * Radius] = signal[min(g + Radius, n - 1)];
  __syncthreads();

  if (g < n) {
    float sum = 0.0f;
#pragma unroll
    for (int t = 0; t < Taps; ++t)
      sum += weights[t] * window[threadIdx.x + t];
    filtered[g] = sum;
  }
}

__global__ void fir_rc(const float *__restrict__ signal,
                       float *__restrict__ filtered, int n,
                       const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 8 threads of fir, neighbours in x.
  //   window: window of 20 registers, loaded by each thread.
  //   No barrier is left: nothing is shared between warps.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.y + threadIdx.y; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                          // all threads of this logical block
  const int rc_tx = threadIdx.x * 8; // first logical thread
  int g[8];
#pragma unroll
  for (int rc_s = 0; rc_s < 8; ++rc_s) {
    const unsigned int rc_thread_x = rc_tx + rc_s;

    g[rc_s] = rc_block_x * Block + rc_thread_x;
  }
  // window[rc_e0] as the original stages it.
  const auto rc_window_at = [=](const int rc_e0) -> float {
    if (6 <= 256 * (int)rc_block_x + rc_e0 &&
        256 * (int)rc_block_x + rc_e0 - 5 <= n)
      return signal[256 * (int)rc_block_x + rc_e0 - 6];
    if ((6 <= 256 * (int)rc_block_x + rc_e0 &&
         n < 256 * (int)rc_block_x + rc_e0 - 5) ||
        ((int)rc_block_x == 0 && rc_e0 < 6 && n <= 0))
      return signal[n - 1];
    if ((int)rc_block_x == 0 && rc_e0 < 6 && 1 <= n)
      return signal[0];
    return {}; // never used
  };
  // Phase: the elements of window that this thread's outputs need.
  float rc_window_w[20];
  {
    const int rc_e0 = rc_tx;
    if (8 <= 256 * (int)rc_block_x + rc_e0 &&
        256 * (int)rc_block_x + rc_e0 < n - 13) {
      rcache::device::load_run<16, 2>(
          rc_window_w, signal + (256 * (int)rc_block_x + rc_e0 - 6));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 20; ++rc_m)
        rc_window_w[rc_m] = rc_window_at(rc_e0 + rc_m);
    }
  }
  {
    float rc_filtered_v[8];
    bool rc_filtered_v_on[8] = {};
#pragma unroll
    for (int rc_s = 0; rc_s < 8; ++rc_s) {
      float sum = 0.0f;

#pragma unroll
      for (int t = 0; t < Taps; ++t)
        sum += weights[t] * rc_window_w[t + rc_s];
      rc_filtered_v[rc_s] = sum;
    }
#pragma unroll
    for (int rc_s = 0; rc_s < 8; ++rc_s) {
      rc_filtered_v_on[rc_s] = (g[rc_s] < n);
    }
    rcache::device::store_run<16>(filtered + (rc_tx + 256 * (int)rc_block_x),
                                  rc_filtered_v, rc_filtered_v_on);
  }
}

// Launches the register-cache form of fir where it applies, else fir itself.
static inline void fir_rc_launch(dim3 rc_grid, dim3 rc_block, size_t rc_shared,
                                 cudaStream_t rc_stream,
                                 const float *__restrict__ signal,
                                 float *__restrict__ filtered, int n) {
  if ((rc_block.x == 256 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 256) && ((double)rc_grid.x <= 8384512.0)) {
    // Merge logical blocks until a physical block has 64 threads or more.
    const unsigned int rc_threads = 32u;
    const unsigned int rc_merged = rc_threads < 64u ? 64u / rc_threads : 1u;
    const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                         rc_grid.z);
    const dim3 rc_threads_of_block(32u, rc_merged, 1);
    fir_rc<<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(signal, filtered,
                                                             n, rc_grid.x);
    return;
  }

  fir<<<rc_grid, rc_block, rc_shared, rc_stream>>>(signal, filtered, n);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 7000);
  const std::vector<float> signal = example::numbers<float>(n);
  float w[Taps];
  for (int t = 0; t < Taps; ++t)
    w[t] = float((t * 5 + 3) % 17 - 6) / 64.0f;
  EXAMPLE_CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
  example::Buffer<float> In(signal), Out(std::vector<float>(n, -1.0f));

  fir_rc_launch((n + Block - 1) / Block, Block, 0, 0, In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(n);
  for (int g = 0; g < n; ++g) {
    float sum = 0;
    for (int t = 0; t < Taps; ++t) {
      const int i = g + t - Radius;
      sum += w[t] * signal[i < 0 ? 0 : i >= n ? n - 1 : i];
    }
    want[g] = sum;
  }
  return example::report("fir", Out.host(), want);
}
