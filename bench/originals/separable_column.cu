// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The column pass of a separable convolution, radius 8, zeros outside.
// -DBX=32 -DBY=8

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)
#define RADIUS 8

__constant__ float taps[2 * RADIUS + 1];

__global__ void columnPass(const float *in, float *out, int w, int h) {
  __shared__ float s[BY + 2 * RADIUS][BX];
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  for (int j = threadIdx.y; j < BY + 2 * RADIUS; j += BY) {
    const int sy = blockIdx.y * BY + j - RADIUS;
    s[j][threadIdx.x] = x < w && sy >= 0 && sy < h ? in[sy * w + x] : 0.0f;
  }
  __syncthreads();
  if (x < w && y < h) {
    float sum = 0;
#pragma unroll
    for (int j = 0; j <= 2 * RADIUS; ++j)
      sum += taps[j] * s[threadIdx.y + j][threadIdx.x];
    out[y * w + x] = sum;
  }
}

static void launch(const float *in, float *out, int w, int h) {
  columnPass<<<dim3((w + BX - 1) / BX, (h + BY - 1) / BY), dim3(BX, BY)>>>(
      in, out, w, h);
}

int main(int argc, char **argv) {
  float t[2 * RADIUS + 1];
  for (int i = 0; i < 2 * RADIUS + 1; ++i)
    t[i] = 0.02f * float(i + 1) - 0.005f * float(i % 5);
  BENCH_CHECK(cudaMemcpyToSymbol(taps, t, sizeof t));
  bench::measure2d<float>(bench::label(argc, argv), "separable-column-r8",
                          STRING(BX) "x" STRING(BY), 2.0 * (2 * RADIUS + 1),
                          launch);
  return 0;
}
