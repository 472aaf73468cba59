// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A 5 x 5 image convolution: weights in constant memory, a tile with its halo
// filled by strided loops in both dimensions, zeros outside the image.

#include "example.h"

#define R 2
#define TILE_X 32
#define TILE_Y 8

__constant__ float mask[(2 * R + 1) * (2 * R + 1)];

__global__ void convolve(const float *in, float *out, int width, int height) {
  __shared__ float tile[TILE_Y + 2 * R][TILE_X + 2 * R];
  const int x = blockIdx.x * TILE_X + threadIdx.x;
  const int y = blockIdx.y * TILE_Y + threadIdx.y;
  for (int j = threadIdx.y; j < TILE_Y + 2 * R; j += TILE_Y)
    for (int i = threadIdx.x; i < TILE_X + 2 * R; i += TILE_X) {
      const int sx = blockIdx.x * TILE_X + i - R;
      const int sy = blockIdx.y * TILE_Y + j - R;
      tile[j][i] = sx >= 0 && sx < width && sy >= 0 && sy < height
                       ? in[sy * width + sx]
                       : 0.0f;
    }
  __syncthreads();

  if (x < width && y < height) {
    float sum = 0;
#pragma unroll
    for (int j = 0; j <= 2 * R; ++j)
#pragma unroll
      for (int i = 0; i <= 2 * R; ++i)
        sum +=
            mask[j * (2 * R + 1) + i] * tile[threadIdx.y + j][threadIdx.x + i];
    out[y * width + x] = sum;
  }
}

int main(int argc, char **argv) {
  const int width = example::argument(argc, argv, 203), height = 101;
  const auto in = example::numbers<float>(size_t(width) * height);
  float weights[(2 * R + 1) * (2 * R + 1)];
  for (int i = 0; i < (2 * R + 1) * (2 * R + 1); ++i)
    weights[i] = float(i * 7 % 23 - 9) / 64.0f;
  EXAMPLE_CHECK(cudaMemcpyToSymbol(mask, weights, sizeof weights));
  example::Buffer<float> In(in), Out(std::vector<float>(in.size(), -1.0f));

  const dim3 block(TILE_X, TILE_Y);
  const dim3 grid((width + TILE_X - 1) / TILE_X,
                  (height + TILE_Y - 1) / TILE_Y);
  convolve<<<grid, block>>>(In.data(), Out.data(), width, height);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(in.size());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      for (int j = -R; j <= R; ++j)
        for (int i = -R; i <= R; ++i)
          if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height)
            sum += weights[(j + R) * (2 * R + 1) + i + R] *
                   in[(y + j) * width + x + i];
      want[y * width + x] = sum;
    }
  return example::report("convolution2d", Out.host(), want);
}
