// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dynamic shared memory, a block size known only at run time, two launches on a
// stream: one with a block that is no multiple of a warp.

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

#define R 7

extern __shared__ float staged[];

// in holds n + 2 * R elements, out holds n.
__global__ void weighted(const float *in, float *out, int n) {
  const unsigned g = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned l = threadIdx.x;
  if (g < n + 2 * R)
    staged[l] = in[g];
  if (l < 2 * R && g + blockDim.x < n + 2 * R)
    staged[l + blockDim.x] = in[g + blockDim.x];
  __syncthreads();

  if (g < n) {
    float sum = 0;
#pragma unroll
    for (int j = 0; j < 2 * R + 1; ++j)
      sum += float(j + 1) * staged[l + j];
    out[g] = sum;
  }
}

__global__ void weighted_rc(const float *in, float *out, int n,
                            const unsigned int rc_grid_x,
                            const unsigned int rc_bdim_x) {
  // Register cache: a thread stands for 8 threads of weighted, neighbours in x.
  //   staged: window of 22 registers, loaded by each thread.
  //   Barriers stay: 'out' is written and may be 'in', which is read.
  const unsigned int rc_block_x =
      blockIdx.x * blockDim.y + threadIdx.y; // logical block
  if (rc_block_x >= rc_grid_x)
    return;                          // all threads of this logical block
  const int rc_tx = threadIdx.x * 8; // first logical thread
  unsigned int g[8];
#pragma unroll
  for (int rc_s = 0; rc_s < 8; ++rc_s) {
    const unsigned int rc_thread_x = rc_tx + rc_s;
    g[rc_s] = rc_block_x * rc_bdim_x + rc_thread_x;
  }
  // staged[rc_e0] as the original stages it.
  const auto rc_staged_at = [=](const int rc_e0) -> float {
    if (rc_e0 < 2 * (int)rc_bdim_x &&
        (int)(rc_bdim_x * rc_block_x) + rc_e0 - 13 <= n)
      return in[(int)(rc_bdim_x * rc_block_x) + rc_e0];
    return {}; // never used
  };
  // Phase: the elements of staged that this thread's outputs need.
  float rc_staged_w[22];
  {
    const int rc_e0 = rc_tx;
    if (rc_e0 < 2 * (int)rc_bdim_x - 23 &&
        (int)(rc_bdim_x * rc_block_x) + rc_e0 < n - 7) {
      rcache::device::load_run<16, 0>(
          rc_staged_w, in + ((int)(rc_bdim_x * rc_block_x) + rc_e0));
    } else {
#pragma unroll
      for (int rc_m = 0; rc_m < 22; ++rc_m)
        rc_staged_w[rc_m] = rc_staged_at(rc_e0 + rc_m);
    }
  }
  __syncthreads();
  {
    float rc_out_v[8];
    bool rc_out_v_on[8] = {};
#pragma unroll
    for (int rc_s = 0; rc_s < 8; ++rc_s) {
      float sum = 0;

#pragma unroll
      for (int j = 0; j < 2 * R + 1; ++j)
        sum += float(j + 1) * rc_staged_w[rc_s + j];
      rc_out_v[rc_s] = sum;
    }
#pragma unroll
    for (int rc_s = 0; rc_s < 8; ++rc_s) {
      rc_out_v_on[rc_s] = (g[rc_s] < n);
    }
    rcache::device::store_run<16>(out + (rc_tx + (int)(rc_bdim_x * rc_block_x)),
                                  rc_out_v, rc_out_v_on);
  }
}

// Launches the register-cache form of weighted where it applies, else weighted
// itself.
static inline void weighted_rc_launch(dim3 rc_grid, dim3 rc_block,
                                      size_t rc_shared, cudaStream_t rc_stream,
                                      const float *in, float *out, int n) {
  if ((rc_block.y == 1 && rc_block.z == 1) &&
      (rc_block.x % 8 == 0 && rc_block.x != 0 && rc_block.x <= 1024) &&
      (rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0) &&
      (rc_grid.x <= 0x7fffffffu / rc_block.x) &&
      ((double)rc_block.x * rc_grid.x <= 2147483647.0) && (n >= 0)) {
    // Merge logical blocks until a physical block has 64 threads or more.
    const unsigned int rc_threads = rc_block.x / 8u;
    const unsigned int rc_merged = rc_threads < 64u ? 64u / rc_threads : 1u;
    const dim3 rc_blocks((rc_grid.x - 1u) / rc_merged + 1u, rc_grid.y,
                         rc_grid.z);
    const dim3 rc_threads_of_block(rc_block.x / 8u, rc_merged, 1);
    weighted_rc<<<rc_blocks, rc_threads_of_block, 0, rc_stream>>>(
        in, out, n, rc_grid.x, rc_block.x);
    return;
  }

  weighted<<<rc_grid, rc_block, rc_shared, rc_stream>>>(in, out, n);
}

static int run(const char *name, int n, int block, cudaStream_t stream) {
  const auto in = example::numbers<float>(n + 2 * R);
  example::Buffer<float> In(in), Out(std::vector<float>(n, -1.0f));
  const size_t bytes = (block + 2 * R) * sizeof(float);
  weighted_rc_launch((n + block - 1) / block, block, bytes, stream, In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaStreamSynchronize(stream));
  std::vector<float> want(n);
  for (int g = 0; g < n; ++g) {
    float sum = 0;
    for (int j = 0; j < 2 * R + 1; ++j)
      sum += float(j + 1) * in[g + j];
    want[g] = sum;
  }
  return example::report(name, Out.host(), want);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 8000);
  cudaStream_t stream;
  EXAMPLE_CHECK(cudaStreamCreate(&stream));
  const int wrong = run("dynamic_shared, block 256", n, 256, stream) |
                    run("dynamic_shared, block 100", n, 100, stream);
  EXAMPLE_CHECK(cudaStreamDestroy(stream));
  return wrong;
}
