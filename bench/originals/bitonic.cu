// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bitonic sort of the keys of each block.

#include "blocks.cuh"

__global__ void sortBlocks(const int *in, int *out, int n) {
  __shared__ int s[BLOCK];
  const int t = threadIdx.x, g = blockIdx.x * BLOCK + t;
  s[t] = g < n ? in[g] : 0x7fffffff;
  __syncthreads();
  for (int k = 2; k <= BLOCK; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int p = t ^ j;
      if (p > t) {
        bool up = (t & k) == 0;
        int a = s[t], b = s[p];
        if ((a > b) == up) {
          s[t] = b;
          s[p] = a;
        }
      }
      __syncthreads();
    }
  if (g < n)
    out[g] = s[t];
}

int main(int argc, char **argv) {
  bench::measureBlocks<int>(
      bench::label(argc, argv), "bitonic", std::to_string(BLOCK), BLOCK, BLOCK,
      [](const int *in, int *out, unsigned blocks) {
        sortBlocks<<<blocks, BLOCK>>>(in, out, int(blocks * BLOCK) - 3);
      });
  return 0;
}
