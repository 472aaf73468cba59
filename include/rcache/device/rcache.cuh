// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The register cache as a small library, for kernels written by hand:
//
//   publish_and_read      one step of communication in a warp
//   direct_window         the elements that a thread's outputs need, by vector
//                         loads
//   chunked_window        the same, each element loaded once a warp, then
//                         shuffled
//   store_outputs         a thread's outputs, as vectors where bounds allow
//   merge_blocks, launch  the launch that fits: fewer threads, merged blocks
//
// A thread stands for C neighbouring threads of the kernel it replaces; those
// are its slots. See examples/by_hand.cu. Everything is in namespace
// rcache::device; indices count elements. Compiles with nvcc and clang, from
// C++14 on; what `rcache-rewrite --runtime=include` uses is in rewrite.cuh,
// included here.

#ifndef RCACHE_DEVICE_RCACHE_CUH
#define RCACHE_DEVICE_RCACHE_CUH

#include "rewrite.cuh"
#include <cuda_runtime.h>

// rcache-begin: publish_and_read (needs: shuffle)
namespace rcache {
namespace device {
/// One step of communication: the calling lane publishes `mine` and gets what
/// lane `from` (0..31) published. All 32 lanes of the warp must call it, in the
/// same step; T is trivially copyable, of any size (exchanged word by word).
///
/// A lane that owns several registers publishes the one that its *reader*
/// needs: choose with `condition ? a : b`, never by arithmetic.
template <typename T>
__device__ __forceinline__ T publish_and_read(T mine, int from) {
  return shuffle(mine, from);
}
} // namespace device
} // namespace rcache
// rcache-end: publish_and_read

// rcache-begin: load_guarded (needs: load_run)
namespace rcache {
namespace device {
/// w[m] = p[first + m] where 0 <= first + m < n, else `outside`, for 0 <= m <
/// N. Reads nothing outside [0, n). 16-byte loads when the whole run is inside
/// and p + first is aligned for them.
template <int N, typename T, typename Index>
__device__ __forceinline__ void load_guarded(T (&w)[N], const T *p, Index first,
                                             Index n, T outside) {
  if (first >= 0 && n >= N && first <= n - N) {
    load_run<sizeof(T) <= 16 && 16 % sizeof(T) == 0 ? 16 : int(sizeof(T)), 0>(
        w, p + first);
  } else {
#pragma unroll
    for (int m = 0; m < N; ++m)
      w[m] = first + m >= 0 && first + m < n ? p[first + m] : outside;
  }
}
} // namespace device
} // namespace rcache
// rcache-end: load_guarded

// rcache-begin: direct_window (needs: load_guarded)
namespace rcache {
namespace device {
/// The C + Halo elements from `first` on, loaded by the calling thread itself;
/// elements outside [0, n) are `outside`. Slot s reads w[s] ... w[s + Halo].
/// The form to begin with: neighbours' loads meet in the L1 cache.
template <int C, int Halo, typename T, typename Index>
__device__ __forceinline__ void direct_window(T (&w)[C + Halo], const T *p,
                                              Index first, Index n,
                                              T outside = T()) {
  load_guarded(w, p, first, n, outside);
}
} // namespace device
} // namespace rcache
// rcache-end: direct_window

// rcache-begin: chunked_window (needs: load_guarded, shuffle)
namespace rcache {
namespace device {
/// The same elements as direct_window, but each is loaded once a warp: a lane
/// loads the C elements from its `first` on, the first lanes also what lies
/// behind the last lane's; the rest of the window arrives by Halo shuffles.
/// Element m lives m / C lanes away, in register m % C.
///
/// Requires: all 32 lanes of the warp call it, and `first` of lane l is `first`
/// of lane 0 plus l * C. Halo <= 31 * C.
template <int C, int Halo, typename T, typename Index>
__device__ __forceinline__ void chunked_window(T (&w)[C + Halo], const T *p,
                                               Index first, Index n,
                                               T outside = T()) {
  static_assert(Halo <= 31 * C, "the window reaches beyond the next warp");
  constexpr int Lanes = (Halo + C - 1) / C; // how far elements come from
  const int lane =
      static_cast<int>(threadIdx.x +
                       blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) %
      32;
  T low[C], high[C];
  load_guarded(low, p, first, n, outside);
#pragma unroll
  for (int m = 0; m < C; ++m)
    high[m] = outside;
  if (lane < Lanes)
    load_guarded(high, p, static_cast<Index>(first + 32 * C), n, outside);
#pragma unroll
  for (int m = 0; m < C; ++m)
    w[m] = low[m];
#pragma unroll
  for (int m = C; m < C + Halo; ++m)
    w[m] =
        shuffle(lane < m / C ? high[m % C] : low[m % C], (lane + m / C) % 32);
}
} // namespace device
} // namespace rcache
// rcache-end: chunked_window

// rcache-begin: store_outputs (needs: word)
namespace rcache {
namespace device {
/// p[first + s] = v[s] where first + s < n, for 0 <= s < C (first >= 0). One
/// test and vectors when all are inside and p + first is aligned for 16 bytes.
template <int C, typename T, typename Index>
__device__ __forceinline__ void store_outputs(T *p, Index first, Index n,
                                              const T (&v)[C]) {
  constexpr int Bytes = 16, PerVector = Bytes / static_cast<int>(sizeof(T));
  constexpr bool Fits = PerVector > 0 && Bytes % sizeof(T) == 0 &&
                        C % (PerVector > 0 ? PerVector : 1) == 0;
  if (Fits && n >= C && first <= n - C &&
      reinterpret_cast<unsigned long long>(p + first) % Bytes == 0) {
    using word_t = typename word<Bytes>::type;
#pragma unroll
    for (int i = 0; i < (Fits ? C / (PerVector > 0 ? PerVector : 1) : 0); ++i) {
      word_t x;
      memcpy(&x, &v[i * PerVector], Bytes);
      reinterpret_cast<word_t *>(p + first)[i] = x;
    }
  } else {
#pragma unroll
    for (int s = 0; s < C; ++s)
      if (first + s < n)
        p[first + s] = v[s];
  }
}
} // namespace device
} // namespace rcache
// rcache-end: store_outputs

// rcache-begin: merge_blocks
namespace rcache {
namespace device {
/// A launch in threads that really run.
struct Launch {
  dim3 Grid, Block;
  bool Fits; ///< false: launch the original kernel instead
};

/// The launch of `grid` x `block` (one-dimensional) when a thread stands for
/// `factor` neighbours: rows of block.x / factor threads, one row a block of
/// the original, as many rows as bring a block to about `threads` threads. In
/// the kernel: block of the original = blockIdx.x * blockDim.y + threadIdx.y
/// (may be past the grid), first thread = threadIdx.x * factor.
///
/// `whole_warps`: rows must be whole warps (chunked_window needs it).
inline Launch merge_blocks(dim3 grid, dim3 block, unsigned factor,
                           bool whole_warps, unsigned threads = 64) {
  Launch l;
  const unsigned row = factor ? block.x / factor : 0;
  l.Fits = row > 0 && block.x % factor == 0 && block.y == 1 && block.z == 1 &&
           grid.x > 0 && grid.y == 1 && grid.z == 1 &&
           (!whole_warps || row % 32 == 0);
  if (!l.Fits)
    return l;
  unsigned rows = threads / row;
  rows = rows < 1 ? 1 : rows > grid.x ? grid.x : rows;
  l.Block = dim3(row, rows);
  l.Grid = dim3((grid.x - 1) / rows + 1);
  return l;
}
} // namespace device
} // namespace rcache
// rcache-end: merge_blocks

// rcache-begin: launch
#ifdef __CUDACC__
namespace rcache {
namespace device {
/// Launches a kernel; the error of this launch, without waiting for the kernel.
/// An empty grid or block is no error and launches nothing.
template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                   size_t shared, cudaStream_t stream, Arguments... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 ||
      block.y == 0 || block.z == 0)
    return cudaSuccess;
  kernel<<<grid, block, shared, stream>>>(arguments...);
  return cudaPeekAtLastError();
}
} // namespace device
} // namespace rcache
#endif
// rcache-end: launch

#endif // RCACHE_DEVICE_RCACHE_CUH
