// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums by a tree in shared memory, one sum a block: an array that is written
// again and again between barriers.

#include "example.h"

#define BLOCK 128

__global__ void blockSums(const float *in, float *sums, int n) {
  __shared__ float s[BLOCK];
  const int l = threadIdx.x;
  const int g = blockIdx.x * BLOCK + l;
  s[l] = g < n ? in[g] : 0.0f;
  __syncthreads();
  for (int step = BLOCK / 2; step > 0; step /= 2) {
    if (l < step)
      s[l] += s[l + step];
    __syncthreads();
  }
  if (l == 0)
    sums[blockIdx.x] = s[0];
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 10000);
  const int blocks = (n + BLOCK - 1) / BLOCK;
  const auto in = example::numbers<float>(n);
  example::Buffer<float> In(in), Sums(std::vector<float>(blocks, -1.0f));

  blockSums<<<blocks, BLOCK>>>(In.data(), Sums.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(blocks, 0.0f);
  for (int g = 0; g < n; ++g)
    want[g / BLOCK] += in[g];
  return example::report("tree_reduction", Sums.host(), want);
}
