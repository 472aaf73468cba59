// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which form of a rewritten 2-D kernel is fast: (2R+1)^2 convolution (-DR=2) or
// the 5-point step (-DFIVE), 16384 x 16384 floats, zero or clamped borders
// (-DCLAMP=0 or 1). Every form is checked bit for bit against the shared-memory
// original, also at sizes that are no multiple of anything. Prints CSV.

#include "common.cuh"
#include <cstring>

#ifdef FIVE
#define R 1
#endif
constexpr int D = 2 * R + 1;
__constant__ float W[D * D];

__device__ __forceinline__ float border(const float *in, int w, int h, int y,
                                        int x) {
#if CLAMP
  y = min(max(y, 0), h - 1);
  x = min(max(x, 0), w - 1);
  return in[size_t(y) * w + x];
#else
  return y >= 0 && y < h && x >= 0 && x < w ? in[size_t(y) * w + x] : 0.0f;
#endif
}

template <int BX, int BY>
__global__ void original(const float *in, float *out, int w, int h) {
  __shared__ float s[BY + 2 * R][BX + 2 * R];
  const int x = blockIdx.x * BX + threadIdx.x,
            y = blockIdx.y * BY + threadIdx.y;
  for (int j = threadIdx.y; j < BY + 2 * R; j += BY)
    for (int i = threadIdx.x; i < BX + 2 * R; i += BX)
      s[j][i] =
          border(in, w, h, blockIdx.y * BY + j - R, blockIdx.x * BX + i - R);
  __syncthreads();
  if (x >= w || y >= h)
    return;
#ifdef FIVE
  out[size_t(y) * w + x] = W[0] * s[threadIdx.y + 1][threadIdx.x + 1] +
                           W[1] * (s[threadIdx.y][threadIdx.x + 1] +
                                   s[threadIdx.y + 2][threadIdx.x + 1] +
                                   s[threadIdx.y + 1][threadIdx.x] +
                                   s[threadIdx.y + 1][threadIdx.x + 2]);
#else
  float sum = 0;
#pragma unroll
  for (int j = 0; j < D; ++j)
#pragma unroll
    for (int i = 0; i < D; ++i)
      sum += W[j * D + i] * s[threadIdx.y + j][threadIdx.x + i];
  out[size_t(y) * w + x] = sum;
#endif
}
__global__ void naive(const float *in, float *out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x,
            y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
#ifdef FIVE
  out[size_t(y) * w + x] =
      W[0] * border(in, w, h, y, x) +
      W[1] * (border(in, w, h, y - 1, x) + border(in, w, h, y + 1, x) +
              border(in, w, h, y, x - 1) + border(in, w, h, y, x + 1));
#else
  float sum = 0;
#pragma unroll
  for (int j = 0; j < D; ++j)
#pragma unroll
    for (int i = 0; i < D; ++i)
      sum += W[j * D + i] * border(in, w, h, y + j - R, x + i - R);
  out[size_t(y) * w + x] = sum;
#endif
}

enum Exchange {
  Head,    // row window by scalars up to alignment, vectors, scalars
  Super,   // row window widened to whole vectors on both sides
  Shuffle, // own vectors; left and right from the neighbour lanes
  Scalar   // one element at a time
};
enum Flag {
  WindowFirst = 1, // fill the whole window, then use it
  TwoBodies = 2,   // interior and border threads: separate code
  Rolled = 4,      // row loop not unrolled; accumulators rotate
  Bar = 8          // a barrier between loads and stores (WindowFirst only)
};

template <int CX> struct Row {
  float v[CX + 2 * R];
};

/// The window row of y: columns x0 - R ... x0 + CX + R - 1, all in range.
template <int CX, int X>
__device__ __forceinline__ void loadRow(float *v, const float *in, int w, int y,
                                        int x0) {
  const float *p = in + size_t(y) * w + (x0 - R);
  constexpr int N = CX + 2 * R;
  if (X == Scalar) {
#pragma unroll
    for (int i = 0; i < N; ++i)
      v[i] = p[i];
  } else if (X == Head) {
    constexpr int H = R % 4;
#pragma unroll
    for (int i = 0; i < H; ++i)
      v[i] = p[i];
#pragma unroll
    for (int i = H; i + 4 <= N; i += 4) {
      const float4 q = *reinterpret_cast<const float4 *>(p + i);
      v[i] = q.x, v[i + 1] = q.y, v[i + 2] = q.z, v[i + 3] = q.w;
    }
#pragma unroll
    for (int i = H + (N - H) / 4 * 4; i < N; ++i)
      v[i] = p[i];
  } else if (X == Super) {
    constexpr int Left = (R + 3) / 4 * 4, M = (Left + CX + R + 3) / 4 * 4;
    float t[M];
#pragma unroll
    for (int i = 0; i < M; i += 4) {
      const float4 q = *reinterpret_cast<const float4 *>(p + R - Left + i);
      t[i] = q.x, t[i + 1] = q.y, t[i + 2] = q.z, t[i + 3] = q.w;
    }
#pragma unroll
    for (int i = 0; i < N; ++i)
      v[i] = t[i + Left - R];
  } else {
    const int lane = (threadIdx.y * blockDim.x + threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < CX; i += 4) {
      const float4 q = *reinterpret_cast<const float4 *>(p + R + i);
      v[R + i] = q.x, v[R + i + 1] = q.y, v[R + i + 2] = q.z,
            v[R + i + 3] = q.w;
    }
#pragma unroll
    for (int i = 0; i < R; ++i) {
      v[i] = __shfl_up_sync(~0u, v[CX + i], 1);
      v[R + CX + i] = __shfl_down_sync(~0u, v[R + i], 1);
    }
    if (lane == 0)
#pragma unroll
      for (int i = 0; i < R; ++i)
        v[i] = p[i];
    if (lane == 31)
#pragma unroll
      for (int i = R + CX; i < N; ++i)
        v[i] = p[i];
  }
}

template <int CX, int CY, int X, int Flags, bool Inside>
__device__ __forceinline__ void work(const float *__restrict__ in,
                                     float acc[CY][CX], int w, int h, int y0,
                                     int x0, bool inside) {
  constexpr int N = CX + 2 * R;
  const auto row = [&](float *v, int y) {
    if (Inside || inside) {
      loadRow<CX, X>(v, in, w, y, x0);
    } else {
#pragma unroll
      for (int i = 0; i < N; ++i)
        v[i] = border(in, w, h, y, x0 - R + i);
    }
  };
#ifdef FIVE
  float v[CY + 2][N];
#pragma unroll
  for (int r = 0; r < CY + 2; ++r)
    row(v[r], y0 - R + r);
#pragma unroll
  for (int oy = 0; oy < CY; ++oy)
#pragma unroll
    for (int ox = 0; ox < CX; ++ox)
      acc[oy][ox] =
          W[0] * v[oy + 1][ox + 1] + W[1] * (v[oy][ox + 1] + v[oy + 2][ox + 1] +
                                             v[oy + 1][ox] + v[oy + 1][ox + 2]);
#else
#pragma unroll
  for (int oy = 0; oy < CY; ++oy)
#pragma unroll
    for (int ox = 0; ox < CX; ++ox)
      acc[oy][ox] = 0;
  if (Flags & WindowFirst) {
    float v[CY + 2 * R][N];
#pragma unroll
    for (int r = 0; r < CY + 2 * R; ++r)
      row(v[r], y0 - R + r);
    if (Flags & Bar)
      __syncthreads();
#pragma unroll
    for (int oy = 0; oy < CY; ++oy)
#pragma unroll
      for (int ox = 0; ox < CX; ++ox)
#pragma unroll
        for (int j = 0; j < D; ++j)
#pragma unroll
          for (int i = 0; i < D; ++i)
            acc[oy][ox] += W[j * D + i] * v[oy + j][ox + i];
  } else {
#pragma unroll
    for (int r = 0; r < CY + 2 * R; ++r) {
      float v[N];
      row(v, y0 - R + r);
#pragma unroll
      for (int oy = 0; oy < CY; ++oy)
        if (r - oy >= 0 && r - oy < D)
#pragma unroll
          for (int i = 0; i < D; ++i)
#pragma unroll
            for (int ox = 0; ox < CX; ++ox)
              acc[oy][ox] += W[(r - oy) * D + i] * v[ox + i];
    }
  }
#endif
}

template <int CX, int CY>
__device__ __forceinline__ void store(float *out, const float acc[CY][CX],
                                      int w, int h, int y0, int x0) {
#pragma unroll
  for (int oy = 0; oy < CY; ++oy) {
    const int y = y0 + oy;
    if (y >= h)
      break;
    float *p = out + size_t(y) * w + x0;
    if (CX % 4 == 0 && x0 + CX <= w &&
        reinterpret_cast<unsigned long long>(p) % 16 == 0) {
#pragma unroll
      for (int i = 0; i + 4 <= CX; i += 4)
        *reinterpret_cast<float4 *>(p + i) = make_float4(
            acc[oy][i], acc[oy][i + 1], acc[oy][i + 2], acc[oy][i + 3]);
    } else {
#pragma unroll
      for (int i = 0; i < CX; ++i)
        if (x0 + i < w)
          p[i] = acc[oy][i];
    }
  }
}

// A long column a thread: one row a step, D accumulator rows that move up. The
// row loop is not unrolled, so the code stays small.
template <int CX, int CY, int X>
__device__ __forceinline__ void queue(const float *__restrict__ in, float *out,
                                      int w, int h, int y0, int x0,
                                      bool xInside) {
  constexpr int N = CX + 2 * R;
  float acc[D][CX] = {};
#pragma unroll 1
  for (int r = 0; r < CY + 2 * R; ++r) {
    const int y = y0 - R + r;
    float v[N];
    if (xInside && y >= 0 && y < h) {
      loadRow<CX, X>(v, in, w, y, x0);
    } else {
#pragma unroll
      for (int i = 0; i < N; ++i)
        v[i] = border(in, w, h, y, x0 - R + i);
    }
    // acc[d] belongs to output row r - d; d = 2 R is complete after this row.
#pragma unroll
    for (int d = D - 1; d >= 0; --d)
#pragma unroll
      for (int ox = 0; ox < CX; ++ox) {
        float a = d ? acc[d - 1][ox] : 0.0f;
#pragma unroll
        for (int i = 0; i < D; ++i)
          a += W[d * D + i] * v[ox + i];
        acc[d][ox] = a;
      }
    if (r >= 2 * R)
      store<CX, 1>(out, &acc[D - 1], w, h, y0 + r - 2 * R, x0);
  }
}

template <int CX, int CY, int X, int Flags>
__global__ void rewritten(const float *__restrict__ in, float *__restrict__ out,
                          int w, int h) {
  const int x0 = (blockIdx.x * blockDim.x + threadIdx.x) * CX;
  const int y0 = (blockIdx.y * blockDim.y + threadIdx.y) * CY;
  constexpr int Room = X == Super ? (R + 3) / 4 * 4 : R;
  bool xInside, inside;
  if (X == Shuffle) { // uniform in the warp: a warp is a row of 32 threads
    const int first = x0 - int(threadIdx.x % 32) * CX;
    xInside = first - R >= 0 && first + 32 * CX + R <= w && w % 4 == 0;
  } else {
    xInside = x0 - Room >= 0 && x0 + CX + Room <= w && w % 4 == 0;
  }
  inside = xInside && y0 - R >= 0 && y0 + CY + R <= h;
#ifndef FIVE
  if (Flags & Rolled) {
    queue<CX, CY, X>(in, out, w, h, y0, x0, xInside);
    return;
  }
#endif
  float acc[CY][CX];
  if (Flags & TwoBodies) {
    if (inside)
      work<CX, CY, X, Flags, true>(in, acc, w, h, y0, x0, true);
    else
      work<CX, CY, Scalar, Flags, false>(in, acc, w, h, y0, x0, false);
  } else {
    work<CX, CY, X, Flags, false>(in, acc, w, h, y0, x0, inside);
  }
  store<CX, CY>(out, acc, w, h, y0, x0);
}

static float *A, *B, *Ref;
static float CopyMs, BestMs = 1e9f;
static const int Big = 16384;

template <int BX, int BY> static void launchOriginal(float *out, int w, int h) {
  original<BX, BY>
      <<<dim3((w + BX - 1) / BX, (h + BY - 1) / BY), dim3(BX, BY)>>>(A, out, w,
                                                                     h);
}
static void line(const char *form, int cx, int cy, int bx, int by,
                 const char *flags, float ms, int regs, int local, bool ok) {
#ifdef FIVE
  const char *name = "five-point";
#else
  const char *name = "conv";
#endif
  std::printf("%s,%d,%d,%s,%d,%d,%d,%d,%s,%.4f,%.3f,%.1f,%d,%d,%s\n", name, R,
              CLAMP, form, cx, cy, bx, by, flags, ms, BestMs / ms,
              100 * CopyMs / ms, regs, local, ok ? "ok" : "WRONG");
}
template <int BX, int BY> static void measureOriginal() {
  const float ms =
      bench::medianMs([&] { launchOriginal<BX, BY>(B, Big, Big); }, 9);
  BestMs = std::min(BestMs, ms);
  line("original", 1, 1, BX, BY, "-", ms, 0, 0, true);
}

template <int CX, int CY, int X, int Flags>
static void measure(int bx, int by) {
  static const char *Names[] = {"head", "super", "shuffle", "scalar"};
  const auto launch = [&](float *out, int w, int h) {
    const int tx = bx * CX, ty = by * CY;
    rewritten<CX, CY, X, Flags>
        <<<dim3((w + tx - 1) / tx, (h + ty - 1) / ty), dim3(bx, by)>>>(A, out,
                                                                       w, h);
  };
  bool ok = true;
  const int sizes[][2] = {{Big, Big}, {1024, 1024}, {1000, 999},
                          {1003, 77}, {3, 5},       {516, 1}};
  for (auto &s : sizes) {
    const size_t n = size_t(s[0]) * s[1];
    launchOriginal<32, 8>(Ref, s[0], s[1]);
    CHECK(cudaMemset(B, 0xff, n * 4));
    launch(B, s[0], s[1]);
    CHECK(cudaGetLastError());
    ok = ok && bench::differences(B, Ref, n) == 0;
  }
  const float ms = bench::medianMs([&] { launch(B, Big, Big); }, 9);
  cudaFuncAttributes at;
  CHECK(cudaFuncGetAttributes(&at, (const void *)rewritten<CX, CY, X, Flags>));
  static const char *F[] = {"-", "first", "two", "first+two", "rolled",  "?",
                            "?", "?",     "bar", "first+bar", "bar+two", "?"};
  line(Names[X], CX, CY, bx, by, F[Flags], ms, at.numRegs,
       int(at.localSizeBytes), ok);
}

int main() {
  const size_t n = size_t(Big) * Big;
  CHECK(cudaMalloc(&A, n * 4));
  CHECK(cudaMalloc(&B, n * 4));
  CHECK(cudaMalloc(&Ref, n * 4));
  bench::fillRandom<<<4096, 256>>>(A, n, 3u);
  float weights[D * D];
  for (int i = 0; i < D * D; ++i)
    weights[i] = 0.01f * float(i + 1) - 0.003f * float(i % 7);
  CHECK(cudaMemcpyToSymbol(W, weights, sizeof weights));
  CopyMs = bench::bestCopyMs(A, B, n);
  line("copy", 1, 1, 0, 0, "-", CopyMs, 0, 0, true);
  measureOriginal<32, 8>();
  measureOriginal<16, 16>();
  measureOriginal<64, 4>();
  measureOriginal<32, 32>();
  line("naive", 1, 1, 32, 8, "-",
       bench::medianMs(
           [&] {
             naive<<<dim3(Big / 32, Big / 8), dim3(32, 8)>>>(A, B, Big, Big);
           },
           9),
       0, 0, true);
#include "forms2d.inc"
  return 0;
}
