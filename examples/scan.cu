// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prefix sums of each block, by doubling distances between two buffers of shared
// memory (Hillis and Steele).

#include "example.h"

#define BLOCK 256

__global__ void prefixSums(const int *in, int *out, int n) {
  __shared__ int s[2][BLOCK];
  const int l = threadIdx.x;
  const int g = blockIdx.x * BLOCK + l;
  int from = 0;
  s[0][l] = g < n ? in[g] : 0;
  __syncthreads();
  for (int step = 1; step < BLOCK; step *= 2) {
    if (l >= step)
      s[1 - from][l] = s[from][l] + s[from][l - step];
    else
      s[1 - from][l] = s[from][l];
    from = 1 - from;
    __syncthreads();
  }
  if (g < n)
    out[g] = s[from][l];
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 10000);
  const int blocks = (n + BLOCK - 1) / BLOCK;
  const auto in = example::numbers<int>(n);
  example::Buffer<int> In(in), Out(std::vector<int>(n, -1));

  prefixSums<<<blocks, BLOCK>>>(In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<int> want(n);
  for (int g = 0; g < n; ++g)
    want[g] = in[g] + (g % BLOCK ? want[g - 1] : 0);
  return example::report("scan", Out.host(), want);
}
