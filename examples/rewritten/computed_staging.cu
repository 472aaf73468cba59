// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is staged is computed: a product of two inputs, converted and limited.
// The block then forms local energies from it.

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

#define BLOCK 256
#define SPAN 8

__global__ void localEnergy(const unsigned char *gain, const short *level,
                            float *energy, int n) {
  __shared__ float s[BLOCK + SPAN];
  const int g = blockIdx.x * BLOCK + threadIdx.x;
  if (g < n)
    s[threadIdx.x] = fminf(float(gain[g]) * float(level[g]), 4096.0f);
  if (threadIdx.x < SPAN && g + BLOCK < n)
    s[threadIdx.x + BLOCK] =
        fminf(float(gain[g + BLOCK]) * float(level[g + BLOCK]), 4096.0f);
  __syncthreads();

  if (g < n - SPAN) {
    float e = 0;
#pragma unroll
    for (int j = 0; j < SPAN; ++j) {
      const float d = s[threadIdx.x + j + 1] - s[threadIdx.x + j];
      e += fabsf(d);
    }
    energy[g] = e;
  }
}

__global__ void localEnergy_rc(const unsigned char *gain, const short *level,
                               float *energy, int n,
                               const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 4 threads of localEnergy, neighbours in
  // x.
  //   s: window of 12 registers, loaded by each thread.
  //   Barriers stay: 'energy' is written and may be 'gain', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.y + threadIdx.y; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                          // all threads of this logical block
  const int rc_tx = threadIdx.x * 4; // first logical thread
  int g[4];
#pragma unroll
  for (int rc_s = 0; rc_s < 4; ++rc_s) {
    const unsigned int rc_thread_x = rc_tx + rc_s;

    g[rc_s] = rc_block_x * BLOCK + rc_thread_x;
  }
  // s[rc_e0] as the original stages it.
  const auto rc_s_at = [=](const int rc_e0) -> float {
    if (256 * (int)rc_block_x + rc_e0 < n)
      return fminf(float((gain[256 * (int)rc_block_x + rc_e0])) *
                       float((level[256 * (int)rc_block_x + rc_e0])),
                   4096.0f);
    return {}; // never used
  };
  // Phase: the elements of s that this thread's outputs need.
  float rc_s_w[12];
  {
    const int rc_e0 = rc_tx;
    if (256 * (int)rc_block_x + rc_e0 < n - 11) {
      unsigned char rc_l0[12];
      rcache::device::load_run<8, 0>(rc_l0,
                                     gain + (256 * (int)rc_block_x + rc_e0));
      short rc_l1[12];
      rcache::device::load_run<8, 0>(rc_l1,
                                     level + (256 * (int)rc_block_x + rc_e0));
#pragma unroll
      for (int rc_m = 0; rc_m < 12; ++rc_m)
        rc_s_w[rc_m] =
            fminf(float((rc_l0[rc_m])) * float((rc_l1[rc_m])), 4096.0f);
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 12; ++rc_m)
        rc_s_w[rc_m] = rc_s_at(rc_e0 + rc_m);
    }
  }
  __syncthreads();
  {
    float rc_energy_v[4];
    bool rc_energy_v_on[4] = {};
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      float e = 0;

#pragma unroll
      for (int j = 0; j < SPAN; ++j) {
        const float d = rc_s_w[rc_s + j + 1] - rc_s_w[rc_s + j];
        e += fabsf(d);
      }
      rc_energy_v[rc_s] = e;
    }
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      rc_energy_v_on[rc_s] = (g[rc_s] < n - SPAN);
    }
    rcache::device::store_run<16>(energy + (rc_tx + 256 * (int)rc_block_x),
                                  rc_energy_v, rc_energy_v_on);
  }
}

// Launches the register-cache form of localEnergy where it applies, else
// localEnergy itself.
static inline void
localEnergy_rc_launch(dim3 rc_grid, dim3 rc_block, size_t rc_shared,
                      cudaStream_t rc_stream, const unsigned char *gain,
                      const short *level, float *energy, int n) {
  if ((rc_block.x == 256 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 256) && ((double)rc_grid.x <= 8384512.0)) {
    // Merge logical blocks until a physical block has 128 threads or more.
    const unsigned int rc_threads = 64u;
    const unsigned int rc_merged = rc_threads < 128u ? 128u / rc_threads : 1u;
    const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                         rc_grid.z);
    const dim3 rc_threads_of_block(64u, rc_merged, 1);
    localEnergy_rc<<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(
        gain, level, energy, n, rc_grid.x);
    return;
  }

  localEnergy<<<rc_grid, rc_block, rc_shared, rc_stream>>>(gain, level, energy,
                                                           n);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 9000);
  const auto gain = example::numbers<unsigned char>(n, 1);
  const auto level = example::numbers<short>(n, 2);
  example::Buffer<unsigned char> Gain(gain);
  example::Buffer<short> Level(level);
  example::Buffer<float> Energy(std::vector<float>(n, -1.0f));

  localEnergy_rc_launch((n + BLOCK - 1) / BLOCK, BLOCK, 0, 0, Gain.data(), Level.data(), Energy.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> v(n), want(n, -1.0f);
  for (int i = 0; i < n; ++i) {
    v[i] = float(gain[i]) * float(level[i]);
    v[i] = v[i] < 4096.0f ? v[i] : 4096.0f;
  }
  for (int g = 0; g < n - SPAN; ++g) {
    float e = 0;
    for (int j = 0; j < SPAN; ++j)
      e += v[g + j + 1] < v[g + j] ? v[g + j] - v[g + j + 1]
                                   : v[g + j + 1] - v[g + j];
    want[g] = e;
  }
  return example::report("computed_staging", Energy.host(), want);
}
