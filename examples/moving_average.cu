// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moving average with a halo on both sides. Outputs near the ends of the array
// average fewer elements: they are set apart by if / else.

#include "example.h"

#define R 5
#define BLOCK 128

__global__ void movingAverage(const int *in, int *out, int n) {
  __shared__ int tile[BLOCK + 2 * R];
  const int g = blockIdx.x * BLOCK + threadIdx.x;
  const int l = threadIdx.x + R;

  tile[l] = g < n ? in[g] : 0;
  if (threadIdx.x < R) {
    tile[l - R] = g >= R && g - R < n ? in[g - R] : 0;
    tile[l + BLOCK] = g + BLOCK < n ? in[g + BLOCK] : 0;
  }
  __syncthreads();

  if (g < n) {
    int sum = 0;
#pragma unroll
    for (int j = -R; j <= R; ++j)
      sum += tile[l + j];
    if (g >= R && g < n - R) {
      out[g] = sum / (2 * R + 1);
    } else {
      // Zeros stand outside the array: only the divisor changes.
      int first = g < R ? 0 : g - R;
      int last = g + R < n ? g + R : n - 1;
      out[g] = sum / (last - first + 1);
    }
  }
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 5003);
  const std::vector<int> in = example::numbers<int>(n);
  example::Buffer<int> In(in), Out(std::vector<int>(n, -1));

  movingAverage<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<int> want(n);
  for (int g = 0; g < n; ++g) {
    int sum = 0, count = 0;
    for (int i = g - R; i <= g + R; ++i)
      if (i >= 0 && i < n) {
        sum += in[i];
        ++count;
      }
    want[g] = sum / count;
  }
  return example::report("moving_average", Out.host(), want);
}
