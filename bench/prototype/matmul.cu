// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tiled matrix product, n = 4096, 32 x 32 tiles: both tiles stay in shared
// memory, a thread computes several rows (and columns). Prints CSV.

#include "common.cuh"

constexpr int TILE = 32;

__global__ void original(const float *A, const float *B, float *C, int n) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int t = 0; t < n / TILE; ++t) {
    As[ty][tx] = A[row * n + t * TILE + tx];
    Bs[ty][tx] = B[(t * TILE + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

enum Flag { Strided = 1, VectorK = 2, Prefetch = 4 };

/// CY rows (neighbours, or TILE / CY apart) and CX columns (TILE / CX apart) a
/// thread; VectorK: rows of As read by 16-byte vectors along k.
template <int CY, int CX, int Flags>
__global__ void rewritten(const float *A, const float *B, float *C, int n) {
  __shared__ __align__(16) float As[TILE][TILE];
  __shared__ __align__(16) float Bs[TILE][TILE];
  constexpr int TY = TILE / CY, TX = TILE / CX;
  const auto Y = [](int s) {
    return (Flags & Strided) ? int(threadIdx.y) + s * TY
                             : int(threadIdx.y) * CY + s;
  };
  const auto X = [](int s) { return int(threadIdx.x) + s * TX; };
  const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  float sum[CY][CX] = {};
  float a[CY][CX], b[CY][CX];
  const auto load = [&](int t) {
#pragma unroll
    for (int s = 0; s < CY; ++s)
#pragma unroll
      for (int c = 0; c < CX; ++c) {
        a[s][c] = A[(row0 + Y(s)) * n + t * TILE + X(c)];
        b[s][c] = B[(t * TILE + Y(s)) * n + col0 + X(c)];
      }
  };
  if (Flags & Prefetch)
    load(0);
  for (int t = 0; t < n / TILE; ++t) {
    if (!(Flags & Prefetch))
      load(t);
#pragma unroll
    for (int s = 0; s < CY; ++s)
#pragma unroll
      for (int c = 0; c < CX; ++c) {
        As[Y(s)][X(c)] = a[s][c];
        Bs[Y(s)][X(c)] = b[s][c];
      }
    __syncthreads();
    if ((Flags & Prefetch) && t + 1 < n / TILE)
      load(t + 1);
    if (Flags & VectorK) {
#pragma unroll
      for (int k = 0; k < TILE; k += 4) {
        float4 va[CY];
        float vb[4][CX];
#pragma unroll
        for (int s = 0; s < CY; ++s)
          va[s] = *reinterpret_cast<const float4 *>(&As[Y(s)][k]);
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int c = 0; c < CX; ++c)
            vb[i][c] = Bs[k + i][X(c)];
#pragma unroll
        for (int s = 0; s < CY; ++s)
#pragma unroll
          for (int c = 0; c < CX; ++c) {
            sum[s][c] += va[s].x * vb[0][c];
            sum[s][c] += va[s].y * vb[1][c];
            sum[s][c] += va[s].z * vb[2][c];
            sum[s][c] += va[s].w * vb[3][c];
          }
      }
    } else {
#pragma unroll
      for (int k = 0; k < TILE; ++k)
#pragma unroll
        for (int s = 0; s < CY; ++s)
#pragma unroll
          for (int c = 0; c < CX; ++c)
            sum[s][c] += As[Y(s)][k] * Bs[k][X(c)];
    }
    __syncthreads();
  }
#pragma unroll
  for (int s = 0; s < CY; ++s)
#pragma unroll
    for (int c = 0; c < CX; ++c)
      C[(row0 + Y(s)) * n + col0 + X(c)] = sum[s][c];
}

static float *A, *B, *C, *Ref;
static const int N = 4096;
static float BestMs;

template <int CY, int CX, int Flags> static void measure() {
  const dim3 grid(N / TILE, N / TILE), block(TILE / CX, TILE / CY);
  CHECK(cudaMemset(C, 0xff, size_t(N) * N * 4));
  const float ms = bench::medianMs(
      [&] { rewritten<CY, CX, Flags><<<grid, block>>>(A, B, C, N); }, 5);
  const bool ok = bench::differences(C, Ref, size_t(N) * N) == 0;
  cudaFuncAttributes at;
  CHECK(cudaFuncGetAttributes(&at, (const void *)rewritten<CY, CX, Flags>));
  std::printf("matmul,%dx%d,%s%s%s,%.3f,%.3f,%.1f,%d,%d,%s\n", CY, CX,
              (Flags & Strided) ? "strided" : "neighbours",
              (Flags & VectorK) ? "+veck" : "",
              (Flags & Prefetch) ? "+prefetch" : "", ms, BestMs / ms,
              2.0 * N * N * double(N) / ms * 1e-9, at.numRegs,
              int(at.localSizeBytes), ok ? "ok" : "WRONG");
}

int main() {
  const size_t n = size_t(N) * N;
  CHECK(cudaMalloc(&A, n * 4));
  CHECK(cudaMalloc(&B, n * 4));
  CHECK(cudaMalloc(&C, n * 4));
  CHECK(cudaMalloc(&Ref, n * 4));
  bench::fillRandom<<<1024, 256>>>(A, n, 1u);
  bench::fillRandom<<<1024, 256>>>(B, n, 2u);
  BestMs = bench::medianMs(
      [&] {
        original<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(A, B, Ref, N);
      },
      5);
  std::printf("kernel,rows x columns,form,ms,speedup,GFLOP/s,registers,"
              "local_bytes,check\n");
  std::printf("matmul,1x1,original,%.3f,1.000,%.1f,,,ok\n", BestMs,
              2.0 * N * N * double(N) / BestMs * 1e-9);
  measure<2, 1, 0>();
  measure<4, 1, 0>();
  measure<8, 1, 0>();
  measure<16, 1, 0>();
  measure<4, 1, Strided>();
  measure<8, 1, Strided>();
  measure<4, 1, VectorK>();
  measure<8, 1, VectorK>();
  measure<16, 1, VectorK>();
  measure<8, 1, Prefetch>();
  measure<8, 1, VectorK | Prefetch>();
  measure<4, 2, 0>();
  measure<4, 4, 0>();
  measure<8, 2, 0>();
  measure<4, 2, VectorK>();
  measure<4, 4, VectorK>();
  measure<8, 2, VectorK>();
  measure<8, 4, VectorK>();
  return 0;
}
