// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A grid of fixed size walks over the array tile by tile: staging and use stand
// in a loop, between two barriers; a total lives across the tiles.

#include "example.h"

#define BLOCK 256
#define R 4

// in holds n + 2 * R elements; out holds n; totals one element a thread.
__global__ void smooth(const float *in, float *out, float *totals, int n) {
  __shared__ float tile[BLOCK + 2 * R];
  float total = 0;
  for (int base = blockIdx.x * BLOCK; base < n; base += gridDim.x * BLOCK) {
    const int g = base + threadIdx.x;
    if (g < n + 2 * R)
      tile[threadIdx.x] = in[g];
    if (threadIdx.x < 2 * R && g + BLOCK < n + 2 * R)
      tile[threadIdx.x + BLOCK] = in[g + BLOCK];
    __syncthreads();
    if (g < n) {
      float sum = 0;
      for (int j = 0; j <= 2 * R; ++j)
        sum += tile[threadIdx.x + j];
      out[g] = sum * 0.125f;
      total += sum;
    }
    __syncthreads();
  }
  totals[blockIdx.x * BLOCK + threadIdx.x] = total;
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 20000), blocks = n / 1600 + 1;
  const auto in = example::numbers<float>(n + 2 * R);
  example::Buffer<float> In(in), Out(std::vector<float>(n, -1.0f)),
      Totals(std::vector<float>(blocks * BLOCK, -1.0f));

  smooth<<<blocks, BLOCK>>>(In.data(), Out.data(), Totals.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(n), totals(blocks * BLOCK, 0.0f);
  for (int g = 0; g < n; ++g) {
    float sum = 0;
    for (int j = 0; j <= 2 * R; ++j)
      sum += in[g + j];
    want[g] = sum * 0.125f;
    totals[g % (blocks * BLOCK)] += sum;
  }
  return example::report("tile_loop", Out.host(), want) |
         example::report("tile_loop totals", Totals.host(), totals);
}
