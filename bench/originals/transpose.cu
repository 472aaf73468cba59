// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposes a matrix through a tile: a shared memory's use that registers have
// no better answer to, unless a thread has a square of its own. -DTILE=16

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

__global__ void transpose(const float *__restrict__ in, float *__restrict__ out,
                          int w, int h) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  if (x < w && y < h)
    tile[threadIdx.y][threadIdx.x] = in[y * w + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  if (x < h && y < w)
    out[y * h + x] = tile[threadIdx.x][threadIdx.y];
}

static void launch(const float *in, float *out, int w, int h) {
  transpose<<<dim3((w + TILE - 1) / TILE, (h + TILE - 1) / TILE),
              dim3(TILE, TILE)>>>(in, out, w, h);
}

int main(int argc, char **argv) {
  bench::measure2d<float>(bench::label(argc, argv), "transpose",
                          STRING(TILE) "x" STRING(TILE), 0, launch);
  return 0;
}
