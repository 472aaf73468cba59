// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which form of a rewritten 1-D kernel is fast. One k and one type a binary
// (-DK=8 -DTYPE=float); every form in the style of generated code, checked bit
// for bit against the shared-memory original. Prints CSV.

#include "common.cuh"
#include <cstring>

typedef TYPE T;

enum Exchange {
  ShuffleSelect, // own chunk, next chunk by the first lanes, select, shuffle
  Reload,        // the whole window by the thread itself, vectors through L1
  Scalars,       // the same, one element at a time
  ShuffleFix,    // shuffle without select; the last lanes load what is wrong
  WarpTile,      // warp's own tile in shared memory, filled and read by vectors
  Half           // first half of the window reloaded, second half as ShuffleFix
};

enum Flag {
  Bar = 1, // one __syncthreads between loads and stores
  ScalarStores = 2,
  NoRestrict = 4,
  Flat = 8,       // g = physical thread * C; else a row of threads a block
  TwoBodies = 16, // all slots active: a body without predicates
  Index64 = 32,
  Tail2 = 64,        // rest of the window by 8-byte loads
  TailUp = 128,      // rest of the window by a 16-byte load (in range: tested)
  ExactDiv = 256,    // division by constant: fast exact path for all slots
  SlotsInner = 512,  // loop over taps outside, slots inside
  LateGuard = 16384, // with PerSlot: bounds computed after the body
  PerSlot = 8192,    // Speculate, the division right after its slot's sum
  NoAlign = 4096,    // no test of alignment
  Speculate = 2048,  // no predicates in the body, guards at the store only
  WarpTest = 1024    // interior test uniform in the warp
};

// ---- the original -----------------------------------------------------------

__global__ void original(const T *A, T *B, int n) {
  extern __shared__ T s[];
  int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x;
  if (g >= n)
    return;
  s[l] = A[g];
  if (l < 2 * K && g + blockDim.x < n)
    s[l + blockDim.x] = A[g + blockDim.x];
  __syncthreads();
  T sum = 0;
#pragma unroll
  for (int j = 0; j <= 2 * K; ++j)
    sum += s[l + j];
  B[g] = sum / (2 * K + 1);
}
template <int BS> __global__ void originalStatic(const T *A, T *B, int n) {
  __shared__ T s[BS + 2 * K];
  int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x;
  if (g >= n)
    return;
  s[l] = A[g];
  if (l < 2 * K && g + blockDim.x < n)
    s[l + blockDim.x] = A[g + blockDim.x];
  __syncthreads();
  T sum = 0;
#pragma unroll
  for (int j = 0; j <= 2 * K; ++j)
    sum += s[l + j];
  B[g] = sum / (2 * K + 1);
}
// Outputs whose window leaves [0, n) read what nothing wrote: not compared.

// ---- pieces -----------------------------------------------------------------

template <class W> __device__ __forceinline__ bool aligned(const void *p) {
  return reinterpret_cast<unsigned long long>(p) % sizeof(W) == 0;
}
template <class W>
__device__ __forceinline__ void loadVector(T *w, const T *p) {
  const W x = *reinterpret_cast<const W *>(p);
  memcpy(w, &x, sizeof(W));
}

/// w[i] = p[i], 0 <= i < N, p 16-byte aligned, p[i] in range up to Room.
template <int N, int Flags>
__device__ __forceinline__ void loadWindow(T *w, const T *p) {
  constexpr int Full = N / 4 * 4;
#pragma unroll
  for (int i = 0; i < Full; i += 4)
    loadVector<uint4>(w + i, p + i);
  if (Flags & TailUp) {
    if (N % 4) {
      T x[4];
      loadVector<uint4>(x, p + Full);
#pragma unroll
      for (int i = 0; i < N % 4; ++i)
        w[Full + i] = x[i];
    }
  } else if ((Flags & Tail2) && N % 4 == 2) {
    loadVector<uint2>(w + Full, p + Full);
  } else {
#pragma unroll
    for (int i = Full; i < N; ++i)
      w[i] = p[i];
  }
}

template <int Flags> __device__ __forceinline__ T finish(T sum) {
  return sum / (2 * K + 1);
}

// x / D for a constant D, correctly rounded: the fused remainder step is exact
// as long as nothing leaves the normal range; the caller tests that.
__device__ __forceinline__ float quickDivide(float x) {
  constexpr float D = 2 * K + 1, R = 1.0f / D;
  const float q = x * R;
  const float r = fmaf(-q, D, x);
  return fmaf(r, R, q);
}
template <int C>
__device__ __forceinline__ void divideAll(float *out, const float *sum) {
  bool usual = true;
#pragma unroll
  for (int s = 0; s < C; ++s) {
    const float a = fabsf(sum[s]);
    usual = usual && a > 1e-20f && a < 1e20f;
  }
  if (usual) {
#pragma unroll
    for (int s = 0; s < C; ++s)
      out[s] = quickDivide(sum[s]);
  } else {
#pragma unroll
    for (int s = 0; s < C; ++s)
      out[s] = sum[s] / (2 * K + 1);
  }
}
template <int C>
__device__ __forceinline__ void divideAll(int *out, const int *sum) {
#pragma unroll
  for (int s = 0; s < C; ++s)
    out[s] = sum[s] / (2 * K + 1);
}

// ---- the rewritten kernel ---------------------------------------------------

template <int C, int X, int Flags>
__device__ __forceinline__ void rewritten(const T *A, T *B, int n,
                                          unsigned grid_x, unsigned bdim_x) {
  typedef
      typename std::conditional<(Flags & Index64) != 0, long long, int>::type
          Index;
  constexpr int N = C + 2 * K;
  constexpr int Room = (Flags & TailUp) || X == WarpTile ? (N + 3) / 4 * 4 : N;
  const int lane = threadIdx.x % 32;
  Index g0;
  bool here = true;
  if (Flags & Flat) {
    g0 = Index(blockIdx.x * blockDim.x + threadIdx.x) * C;
  } else {
    const unsigned block_x = blockIdx.x * blockDim.y + threadIdx.y;
    here = block_x < grid_x;
    if (!here && !(Flags & Bar))
      return;
    g0 = Index(block_x) * bdim_x + threadIdx.x * C;
  }
  T w[N];
  const auto at = [=](Index e) -> T { return e < n ? A[e] : T(); };

  if (X == Scalars) {
#pragma unroll
    for (int m = 0; m < N; ++m)
      w[m] = here ? at(g0 + m) : T();
  } else if (X == Reload) {
    const Index last = (Flags & WarpTest) ? g0 + (31 - lane) * C : g0;
    if (here && last + Room <= n &&
        ((Flags & NoAlign) || aligned<uint4>(A + g0))) {
      loadWindow<N, Flags>(w, A + g0);
    } else {
#pragma unroll
      for (int m = 0; m < N; ++m)
        w[m] = here ? at(g0 + m) : T();
    }
  } else if (X == ShuffleSelect) {
    constexpr int Q = (2 * K + C - 1) / C;
    T own[C], next[C] = {};
    if (here && g0 + C <= n && aligned<uint4>(A + g0)) {
      loadWindow<C, 0>(own, A + g0);
    } else {
#pragma unroll
      for (int m = 0; m < C; ++m)
        own[m] = here ? at(g0 + m) : T();
    }
    if (lane < Q) {
      const Index e = g0 + 32 * C;
      if (here && e + C <= n && aligned<uint4>(A + e)) {
        loadWindow<C, 0>(next, A + e);
      } else {
#pragma unroll
        for (int m = 0; m < C; ++m)
          next[m] = here ? at(e + m) : T();
      }
    }
#pragma unroll
    for (int m = 0; m < C; ++m)
      w[m] = own[m];
#pragma unroll
    for (int m = C; m < N; ++m)
      w[m] = __shfl_sync(~0u, lane < m / C ? next[m % C] : own[m % C],
                         (lane + m / C) % 32);
  } else if (X == ShuffleFix || X == Half) {
    constexpr int H0 = X == Half ? (N / 2 + 3) / 4 * 4 : C;
    constexpr int H = H0 < C ? C : H0;
    const Index warp_last = g0 + (31 - lane) * C;
    if (here && warp_last + Room <= n && aligned<uint4>(A + g0)) {
      loadWindow<(H < N ? H : N), Flags>(w, A + g0);
#pragma unroll
      for (int m = H; m < N; ++m)
        w[m] = __shfl_down_sync(~0u, w[m % C], m / C);
#pragma unroll
      for (int m = H; m < N; m += 4)
        if (lane + m / C >= 32) {
          if (m + 4 <= N)
            loadVector<uint4>(w + m, A + g0 + m);
          else
#pragma unroll
            for (int i = m; i < N; ++i)
              w[i] = A[g0 + i];
        }
    } else {
#pragma unroll
      for (int m = 0; m < N; ++m)
        w[m] = here ? at(g0 + m) : T();
    }
  } else if (X == WarpTile) {
    // Unit u (16 bytes) stands at u + u / 8: no bank conflicts for C = 4 .. 32.
    constexpr int Units = (32 * C + 2 * K + 3) / 4, Step = C / 4;
    constexpr int Padded = Units + Units / 8 + 1;
    extern __shared__ uint4 tiles[];
    uint4 *tile =
        tiles + (threadIdx.y * blockDim.x + threadIdx.x) / 32 * Padded;
    const Index warp_first = g0 - lane * C;
    if (here && warp_first + Units * 4 <= n && aligned<uint4>(A + warp_first)) {
#pragma unroll
      for (int r = 0; r < (Units + 31) / 32; ++r) {
        const int u = lane + 32 * r;
        if (u < Units)
          tile[u + u / 8] =
              *reinterpret_cast<const uint4 *>(A + warp_first + 4 * u);
      }
    } else {
      for (int e = lane; e < Units * 4; e += 32)
        reinterpret_cast<T *>(tile)[e + e / 32 * 4] =
            here ? at(warp_first + e) : T();
    }
    __syncwarp();
    constexpr int U = (N + 3) / 4;
    T x[U * 4];
#pragma unroll
    for (int i = 0; i < U; ++i) {
      // Eight units on: nine places on; so eight addresses serve all i.
      const int u = lane * Step + i % 8;
      const uint4 v = tile[u + u / 8 + i / 8 * 9];
      memcpy(x + 4 * i, &v, 16);
    }
#pragma unroll
    for (int m = 0; m < N; ++m)
      w[m] = x[m];
  }

  if (Flags & Bar) {
    __syncthreads();
    if (!here)
      return;
  }

  T out[C];
  bool on[C];
  bool all = true;
#pragma unroll
  for (int s = 0; s < C; ++s) {
    on[s] = (Flags & LateGuard) || g0 + s < n;
    all = all && on[s];
  }
  if (((Flags & TwoBodies) && all) ||
      (Flags & (SlotsInner | Speculate | PerSlot))) {
    T sum[C];
    if (Flags & SlotsInner) {
#pragma unroll
      for (int s = 0; s < C; ++s)
        sum[s] = 0;
#pragma unroll
      for (int j = 0; j <= 2 * K; ++j)
#pragma unroll
        for (int s = 0; s < C; ++s)
          sum[s] += w[s + j];
    } else {
#pragma unroll
      for (int s = 0; s < C; ++s) {
        sum[s] = 0;
#pragma unroll
        for (int j = 0; j <= 2 * K; ++j)
          sum[s] += w[s + j];
        if (Flags & PerSlot)
          out[s] = finish<Flags>(sum[s]);
      }
    }
    if (Flags & PerSlot) {
    } else if (Flags & ExactDiv) {
      divideAll<C>(out, sum);
    } else {
#pragma unroll
      for (int s = 0; s < C; ++s)
        out[s] = finish<Flags>(sum[s]);
    }
  } else {
#pragma unroll
    for (int s = 0; s < C; ++s) {
      if (!on[s])
        continue;
      T sum = 0;
#pragma unroll
      for (int j = 0; j <= 2 * K; ++j)
        sum += w[s + j];
      out[s] = finish<Flags>(sum);
    }
  }
  if (Flags & LateGuard) {
    all = g0 + C <= n;
#pragma unroll
    for (int s = 0; s < C; ++s)
      on[s] = g0 + s < n;
  }
  if (!(Flags & ScalarStores) && all &&
      ((Flags & NoAlign) || aligned<uint4>(B + g0))) {
#pragma unroll
    for (int s = 0; s < C; s += 4) {
      uint4 v;
      memcpy(&v, out + s, 16);
      *reinterpret_cast<uint4 *>(B + g0 + s) = v;
    }
  } else {
#pragma unroll
    for (int s = 0; s < C; ++s)
      if (on[s])
        B[g0 + s] = out[s];
  }
}

template <int C, int X, int Flags>
__global__ void plain(const T *A, T *B, int n, unsigned grid_x,
                      unsigned bdim_x) {
  rewritten<C, X, Flags>(A, B, n, grid_x, bdim_x);
}
template <int C, int X, int Flags>
__global__ void restricted(const T *__restrict__ A, T *__restrict__ B, int n,
                           unsigned grid_x, unsigned bdim_x) {
  rewritten<C, X, Flags>(A, B, n, grid_x, bdim_x);
}

template <int C, int X, int Flags, int Threads, int Blocks>
__global__ void __launch_bounds__(Threads, Blocks)
    bounded(const T *A, T *B, int n, unsigned grid_x, unsigned bdim_x) {
  rewritten<C, X, Flags>(A, B, n, grid_x, bdim_x);
}

// ---- measurement ------------------------------------------------------------

static T *A, *B, *Ref;
static float CopyMs, BestMs = 1e9f;
static size_t Big = size_t(1) << 27;
static const char *TypeName = "";

static void launchOriginal(int block, T *out, int n) {
  original<<<unsigned((n + block - 1) / block), block,
             (block + 2 * K) * sizeof(T)>>>(A, out, n);
}

template <int C, int X, int Flags, int Threads, int Blocks>
static void launch(T *out, int n, int tpb, int block) {
  const unsigned grid = unsigned((n + block - 1) / block);
  const size_t shared =
      X == WarpTile
          ? (tpb / 32) * ((32 * C + 2 * K + 3) / 4 * 9 / 8 + 2) * size_t(16)
          : 0;
  dim3 blocks, threads;
  if (Flags & Flat) {
    blocks = dim3(unsigned((size_t(n) + size_t(tpb) * C - 1) / (tpb * C)));
    threads = dim3(tpb);
  } else {
    const int row = block / C, merged = std::max(1, tpb / row);
    blocks = dim3((grid + merged - 1) / merged);
    threads = dim3(row, merged);
  }
  if (Blocks)
    bounded<C, X, Flags, Threads ? Threads : 64, Blocks>
        <<<blocks, threads, shared>>>(A, out, n, grid, block);
  else if (Flags & NoRestrict)
    plain<C, X, Flags><<<blocks, threads, shared>>>(A, out, n, grid, block);
  else
    restricted<C, X, Flags>
        <<<blocks, threads, shared>>>(A, out, n, grid, block);
}

template <int C, int X, int Flags, int Threads = 0, int Blocks = 0>
static void measure(int tpb, int block) {
  static const char *Names[] = {"shuffle-select", "reload",    "scalars",
                                "shuffle-fix",    "warp-tile", "half"};
  if (sizeof(T) != 4)
    return;
  bool ok = true;
  for (size_t n :
       {size_t(4099), size_t(1 << 20), size_t((1 << 20) + 13), Big}) {
    launchOriginal(256, Ref, int(n));
    CHECK(cudaMemset(B, 0xff, n * 4));
    launch<C, X, Flags, Threads, Blocks>(B, int(n), tpb, block);
    CHECK(cudaGetLastError());
    if (bench::differences(B, Ref, n - 2 * K))
      ok = false;
    // Every output is written, the last 2 K too.
    std::vector<unsigned> end(2 * K);
    CHECK(cudaMemcpy(end.data(), B + n - 2 * K, 8 * K, cudaMemcpyDeviceToHost));
    for (unsigned e : end)
      if (e == 0xffffffffu)
        ok = false;
  }
  const float ms = bench::medianMs(
      [&] { launch<C, X, Flags, Threads, Blocks>(B, int(Big), tpb, block); });
  cudaFuncAttributes at;
  const void *kernel = Blocks ? (const void *)bounded < C, X, Flags,
             Threads ? Threads : 64,
             Blocks >
      : (Flags & NoRestrict) ? (const void *)plain<C, X, Flags>
                             : (const void *)restricted<C, X, Flags>;
  CHECK(cudaFuncGetAttributes(&at, kernel));
  char flags[200] = "";
  static const char *FlagNames[] = {
      "bar",      "scalar-st", "norestrict", "flat",    "two",
      "i64",      "tail2",     "tailup",     "xdiv",    "inner",
      "warptest", "spec",      "noalign",    "perslot", "late"};
  for (int i = 0; i < 15; ++i)
    if (Flags >> i & 1) {
      if (*flags)
        std::strcat(flags, "+");
      std::strcat(flags, FlagNames[i]);
    }
  if (Blocks)
    std::snprintf(flags + std::strlen(flags), 20, "+bounds%d", Blocks);
  std::printf("%s,%d,%s,%d,%d,%d,%s,%.4f,%.3f,%.1f,%d,%d,%s\n", TypeName, K,
              Names[X], C, tpb, block, *flags ? flags : "-", ms, BestMs / ms,
              100 * CopyMs / ms, at.numRegs, int(at.localSizeBytes),
              ok ? "ok" : "WRONG");
}

template <int BS> static void measureStatic() {
  const unsigned grid = unsigned((Big + BS - 1) / BS);
  const float ms = bench::medianMs(
      [&] { originalStatic<BS><<<grid, BS>>>(A, B, int(Big)); });
  BestMs = std::min(BestMs, ms);
  std::printf("%s,%d,original-static,1,%d,%d,-,%.4f,,%.1f,,,\n", TypeName, K,
              BS, BS, ms, 100 * CopyMs / ms);
}

int main() {
  TypeName = T(0.5f) == T(0) ? "int" : "float";
  CHECK(cudaMalloc(&A, Big * 4 + 4096));
  CHECK(cudaMalloc(&B, Big * 4 + 4096));
  CHECK(cudaMalloc(&Ref, Big * 4 + 4096));
  bench::fillRandom<<<4096, 256>>>(A, Big, 7u);
  CopyMs = bench::bestCopyMs(A, B, Big);
  std::printf("%s,%d,copy,,,,-,%.4f,,100.0,,,\n", TypeName, K, CopyMs);
  for (int b : {64, 128, 256, 512, 1024}) {
    const float ms = bench::medianMs([&] { launchOriginal(b, B, int(Big)); });
    BestMs = std::min(BestMs, ms);
    std::printf("%s,%d,original-dynamic,1,%d,%d,-,%.4f,,%.1f,,,\n", TypeName, K,
                b, b, ms, 100 * CopyMs / ms);
  }
  measureStatic<64>();
  measureStatic<128>();
  measureStatic<256>();
  measureStatic<512>();
  measureStatic<1024>();
#if ROUND == 5
#include "forms1d-e.inc"
#elif ROUND == 4
#include "forms1d-d.inc"
#elif ROUND == 3
#include "forms1d-c.inc"
#elif ROUND == 2
#include "forms1d-b.inc"
#else
#include "forms1d.inc"
#endif
  return 0;
}
