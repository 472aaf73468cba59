// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// (2 R + 1)^2 convolution of an image of floats, weights in constant memory,
// zeros outside; tile and halo filled by strided loops. -DR=2 -DBX=32 -DBY=8

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

constexpr int D = 2 * R + 1;
__constant__ float W[D * D];

__global__ void convolve(const float *in, float *out, int w, int h) {
  __shared__ float s[BY + 2 * R][BX + 2 * R];
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  for (int j = threadIdx.y; j < BY + 2 * R; j += BY)
    for (int i = threadIdx.x; i < BX + 2 * R; i += BX) {
      const int sy = blockIdx.y * BY + j - R, sx = blockIdx.x * BX + i - R;
      s[j][i] =
          sy >= 0 && sy < h && sx >= 0 && sx < w ? in[sy * w + sx] : 0.0f;
    }
  __syncthreads();
  if (x < w && y < h) {
    float sum = 0;
#pragma unroll
    for (int j = 0; j < D; ++j)
#pragma unroll
      for (int i = 0; i < D; ++i)
        sum += W[j * D + i] * s[threadIdx.y + j][threadIdx.x + i];
    out[y * w + x] = sum;
  }
}

static void launch(const float *in, float *out, int w, int h) {
  convolve<<<dim3((w + BX - 1) / BX, (h + BY - 1) / BY), dim3(BX, BY)>>>(in, out,
                                                                        w, h);
}

int main(int argc, char **argv) {
  float weights[D * D];
  for (int i = 0; i < D * D; ++i)
    weights[i] = 0.01f * float(i + 1) - 0.003f * float(i % 7);
  BENCH_CHECK(cudaMemcpyToSymbol(W, weights, sizeof weights));
  bench::measure2d<float>(bench::label(argc, argv), "conv2d-r" STRING(R),
                          STRING(BX) "x" STRING(BY), 2.0 * D * D, launch);
  return 0;
}
