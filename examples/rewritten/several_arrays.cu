// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One time step of a 1-D wave with a speed that varies in space: two staged
// arrays of different halo, and a third input read directly.

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

#define BLOCK 128

__global__ void waveStep(const float *now, const float *speed,
                         const float *before, float *after, int n) {
  __shared__ float u[BLOCK + 4];
  __shared__ float c[BLOCK + 2];
  const int g = blockIdx.x * BLOCK + threadIdx.x;
  const int l = threadIdx.x;
  if (g < n) {
    u[l + 2] = now[g];
    c[l + 1] = speed[g];
  }
  if (l < 2) {
    if (g >= 2)
      u[l] = now[g - 2];
    if (g + BLOCK < n)
      u[l + BLOCK + 2] = now[g + BLOCK];
  }
  if (l == 0) {
    if (g >= 1)
      c[0] = speed[g - 1];
    if (g + BLOCK < n)
      c[BLOCK + 1] = speed[g + BLOCK];
  }
  __syncthreads();

  if (g >= 2 && g < n - 2) {
    const float second =
        16.0f * (u[l + 1] + u[l + 3]) - 30.0f * u[l + 2] - (u[l] + u[l + 4]);
    const float local = 0.25f * (c[l] + 2.0f * c[l + 1] + c[l + 2]);
    after[g] = 2.0f * u[l + 2] - before[g] + local * second;
  }
}

__global__ void waveStep_rc(const float *now, const float *speed,
                            const float *before, float *after, int n,
                            const unsigned int rc_grid_x) {
  // Register cache: a thread stands for 4 threads of waveStep, neighbours in x.
  //   u: window of 8 registers, loaded by each thread.
  //   c: window of 6 registers, loaded by each thread.
  //   Barriers stay: 'after' is written and may be 'now', which is read.
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
  // u[rc_e0] as the original stages it.
  const auto rc_u_at = [=](const int rc_e0) -> float {
    if ((2 <= rc_e0 && 128 * (int)rc_block_x + rc_e0 - 1 <= n) ||
        (2 <= 128 * (int)rc_block_x + rc_e0 && rc_e0 < 2))
      return now[128 * (int)rc_block_x + rc_e0 - 2];
    return {}; // never used
  };
  // Phase: the elements of u that this thread's outputs need.
  float rc_u_w[8];
  {
    const int rc_e0 = rc_tx;
#pragma unroll
    for (int rc_m = 0; rc_m < 8; ++rc_m)
      rc_u_w[rc_m] = rc_u_at(rc_e0 + rc_m);
  }
  // c[rc_e0] as the original stages it.
  const auto rc_c_at = [=](const int rc_e0) -> float {
    if (1 <= rc_e0 && 128 * (int)rc_block_x + rc_e0 <= n)
      return speed[rc_e0 + 128 * (int)rc_block_x - 1];
    if (1 <= (int)rc_block_x && rc_e0 == 0)
      return speed[128 * (int)rc_block_x - 1];
    return {}; // never used
  };
  // Phase: the elements of c that this thread's outputs need.
  float rc_c_w[6];
  {
    const int rc_e0 = rc_tx;
    if (4 <= rc_e0 && 128 * (int)rc_block_x + rc_e0 < n - 4) {
      rcache::device::load_run<16, 1>(
          rc_c_w, speed + (rc_e0 + 128 * (int)rc_block_x - 1));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 6; ++rc_m)
        rc_c_w[rc_m] = rc_c_at(rc_e0 + rc_m);
    }
  }
  __syncthreads();
  {
    float rc_after_v[4];
    bool rc_after_v_on[4] = {};
#pragma unroll
    for (int rc_s = 0; rc_s < 4; ++rc_s) {
      if (!(g[rc_s] >= 2 && g[rc_s] < n - 2))
        continue;
      const float second = 16.0f * (rc_u_w[rc_s + 1] + rc_u_w[rc_s + 3]) -
                           30.0f * rc_u_w[rc_s + 2] -
                           (rc_u_w[rc_s] + rc_u_w[rc_s + 4]);
      const float local =
          0.25f * (rc_c_w[rc_s] + 2.0f * rc_c_w[rc_s + 1] + rc_c_w[rc_s + 2]);
      rc_after_v[rc_s] =
          2.0f * rc_u_w[rc_s + 2] - before[g[rc_s]] + local * second;
      rc_after_v_on[rc_s] = true;
    }
    rcache::device::store_run<16>(after + (rc_tx + 128 * (int)rc_block_x),
                                  rc_after_v, rc_after_v_on);
  }
}

// Launches the register-cache form of waveStep where it applies, else waveStep
// itself.
static inline void waveStep_rc_launch(dim3 rc_grid, dim3 rc_block,
                                      size_t rc_shared, cudaStream_t rc_stream,
                                      const float *now, const float *speed,
                                      const float *before, float *after,
                                      int n) {
  if ((rc_block.x == 128 && rc_block.y == 1 && rc_block.z == 1) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / 128) && ((double)rc_grid.x <= 16769024.0)) {
    // Merge logical blocks until a physical block has 128 threads or more.
    const unsigned int rc_threads = 32u;
    const unsigned int rc_merged = rc_threads < 128u ? 128u / rc_threads : 1u;
    const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                         rc_grid.z);
    const dim3 rc_threads_of_block(32u, rc_merged, 1);
    waveStep_rc<<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(
        now, speed, before, after, n, rc_grid.x);
    return;
  }

  waveStep<<<rc_grid, rc_block, rc_shared, rc_stream>>>(now, speed, before,
                                                        after, n);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 4100);
  const auto now = example::numbers<float>(n, 1);
  const auto before = example::numbers<float>(n, 2);
  const auto speed = example::numbers<float>(n, 3);
  example::Buffer<float> Now(now), Before(before), Speed(speed),
      After(std::vector<float>(n, 0.0f));

  waveStep_rc_launch((n + BLOCK - 1) / BLOCK, BLOCK, 0, 0, Now.data(), Speed.data(), Before.data(), After.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(n, 0.0f);
  for (int g = 2; g < n - 2; ++g) {
    const float second = 16.0f * (now[g - 1] + now[g + 1]) - 30.0f * now[g] -
                         (now[g - 2] + now[g + 2]);
    const float local = 0.25f * (speed[g - 1] + 2.0f * speed[g] + speed[g + 1]);
    want[g] = 2.0f * now[g] - before[g] + local * second;
  }
  return example::report("several_arrays", After.host(), want);
}
