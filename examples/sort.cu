// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each block sorts its keys (Batcher's bitonic sort): of two threads whose numbers
// differ in one bit, the first one swaps for both.

#include "example.h"
#include <algorithm>

#define BLOCK 256

__global__ void sortBlocks(const int *in, int *out, int n) {
  __shared__ int s[BLOCK];
  const int l = threadIdx.x;
  const int g = blockIdx.x * BLOCK + l;
  s[l] = g < n ? in[g] : 0x7fffffff;
  __syncthreads();
  for (int size = 2; size <= BLOCK; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      const int partner = l ^ step;
      if (partner > l) {
        const bool rising = (l & size) == 0;
        const int a = s[l], b = s[partner];
        if ((a > b) == rising) {
          s[l] = b;
          s[partner] = a;
        }
      }
      __syncthreads();
    }
  if (g < n)
    out[g] = s[l];
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 10000);
  const int blocks = (n + BLOCK - 1) / BLOCK;
  const auto in = example::numbers<int>(n);
  example::Buffer<int> In(in), Out(std::vector<int>(n, -1));

  sortBlocks<<<blocks, BLOCK>>>(In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<int> want = in;
  for (int b = 0; b < n; b += BLOCK)
    std::sort(want.begin() + b, want.begin() + std::min(b + BLOCK, n));
  return example::report("sort", Out.host(), want);
}
