// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Row and column pass of a separable filter, several outputs a thread already:
// STEPS tiles a block's width apart, and one more on each side. Whole tiles only.
// -DCOLUMNS=0 -DRADIUS=8 -DSTEPS=8

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)
#define SIDE 1 // tiles of halo
#define ROWS_BX 16
#define ROWS_BY 4
#define COLUMNS_BX 16
#define COLUMNS_BY 8

__constant__ float taps[2 * RADIUS + 1];

__global__ void rows(float *dst, float *src, int w, int h, int pitch) {
  __shared__ float s[ROWS_BY][(STEPS + 2 * SIDE) * ROWS_BX];
  const int x = (blockIdx.x * STEPS - SIDE) * ROWS_BX + threadIdx.x;
  const int y = blockIdx.y * ROWS_BY + threadIdx.y;
  src += y * pitch + x;
  dst += y * pitch + x;
#pragma unroll
  for (int i = SIDE; i < SIDE + STEPS; i++)
    s[threadIdx.y][threadIdx.x + i * ROWS_BX] = src[i * ROWS_BX];
#pragma unroll
  for (int i = 0; i < SIDE; i++)
    s[threadIdx.y][threadIdx.x + i * ROWS_BX] =
        x >= -i * ROWS_BX ? src[i * ROWS_BX] : 0;
#pragma unroll
  for (int i = SIDE + STEPS; i < SIDE + STEPS + SIDE; i++)
    s[threadIdx.y][threadIdx.x + i * ROWS_BX] =
        w - x > i * ROWS_BX ? src[i * ROWS_BX] : 0;
  __syncthreads();
#pragma unroll
  for (int i = SIDE; i < SIDE + STEPS; i++) {
    float sum = 0;
#pragma unroll
    for (int j = -RADIUS; j <= RADIUS; j++)
      sum += taps[RADIUS - j] * s[threadIdx.y][threadIdx.x + i * ROWS_BX + j];
    dst[i * ROWS_BX] = sum;
  }
}

__global__ void columns(float *dst, float *src, int w, int h, int pitch) {
  __shared__ float s[COLUMNS_BX][(STEPS + 2 * SIDE) * COLUMNS_BY + 1];
  const int x = blockIdx.x * COLUMNS_BX + threadIdx.x;
  const int y = (blockIdx.y * STEPS - SIDE) * COLUMNS_BY + threadIdx.y;
  src += y * pitch + x;
  dst += y * pitch + x;
#pragma unroll
  for (int i = SIDE; i < SIDE + STEPS; i++)
    s[threadIdx.x][threadIdx.y + i * COLUMNS_BY] = src[i * COLUMNS_BY * pitch];
#pragma unroll
  for (int i = 0; i < SIDE; i++)
    s[threadIdx.x][threadIdx.y + i * COLUMNS_BY] =
        y >= -i * COLUMNS_BY ? src[i * COLUMNS_BY * pitch] : 0;
#pragma unroll
  for (int i = SIDE + STEPS; i < SIDE + STEPS + SIDE; i++)
    s[threadIdx.x][threadIdx.y + i * COLUMNS_BY] =
        h - y > i * COLUMNS_BY ? src[i * COLUMNS_BY * pitch] : 0;
  __syncthreads();
#pragma unroll
  for (int i = SIDE; i < SIDE + STEPS; i++) {
    float sum = 0;
#pragma unroll
    for (int j = -RADIUS; j <= RADIUS; j++)
      sum +=
          taps[RADIUS - j] * s[threadIdx.x][threadIdx.y + i * COLUMNS_BY + j];
    dst[i * COLUMNS_BY * pitch] = sum;
  }
}

static void launch(const float *in, float *out, int w, int h) {
  float *src = const_cast<float *>(in);
#if COLUMNS
  const dim3 grid(w / COLUMNS_BX, h / (STEPS * COLUMNS_BY));
  if (grid.x && grid.y)
    columns<<<grid, dim3(COLUMNS_BX, COLUMNS_BY)>>>(
        out, src, w, int(grid.y) * STEPS * COLUMNS_BY, w);
#else
  const dim3 grid(w / (STEPS * ROWS_BX), h / ROWS_BY);
  if (grid.x && grid.y)
    rows<<<grid, dim3(ROWS_BX, ROWS_BY)>>>(
        out, src, int(grid.x) * STEPS * ROWS_BX, h, w);
#endif
}

int main(int argc, char **argv) {
  float t[2 * RADIUS + 1];
  for (int i = 0; i < 2 * RADIUS + 1; ++i)
    t[i] = 0.02f * float(i + 1) - 0.005f * float(i % 5);
  BENCH_CHECK(cudaMemcpyToSymbol(taps, t, sizeof t));
  bench::measure2d<float>(
      bench::label(argc, argv),
      (COLUMNS ? "separable-columns-r" : "separable-rows-r") +
          std::string(STRING(RADIUS) "-steps" STRING(STEPS)),
      COLUMNS ? "16x8" : "16x4", 2.0 * (2 * RADIUS + 1), launch);
  return 0;
}
