// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counters in shared memory, one set a block: which thread adds to which counter
// hangs on the data, so the array stays where it is, and the tool says so.

#include "example.h"

#define BLOCK 128
#define BINS 32

__global__ void histogram(const int *in, int *bins, int n) {
  __shared__ int s[BINS];
  const int l = threadIdx.x;
  const int g = blockIdx.x * BLOCK + l;
  if (l < BINS)
    s[l] = 0;
  __syncthreads();
  if (g < n)
    atomicAdd(&s[in[g] % BINS], 1);
  __syncthreads();
  if (l < BINS)
    atomicAdd(&bins[l], s[l]);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 10000);
  std::vector<int> in(n), want(BINS, 0);
  for (int i = 0; i < n; ++i) {
    in[i] = i * 7 % 1000 / 3;
    ++want[in[i] % BINS];
  }
  example::Buffer<int> In(in), Bins(std::vector<int>(BINS, 0));

  histogram<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(In.data(), Bins.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  return example::report("histogram", Bins.host(), want);
}
