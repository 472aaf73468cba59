// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Odd-even transposition sort of blocks of BLOCK ints.

#include "blocks.cuh"

__global__ void oddEven(const int *in, int *out) {
  __shared__ int s[BLOCK];
  const int t = threadIdx.x, g = blockIdx.x * BLOCK + t;
  s[t] = in[g];
  __syncthreads();
  for (int round = 0; round < BLOCK; ++round) {
    if (t % 2 == round % 2 && t + 1 < BLOCK) {
      const int a = s[t], b = s[t + 1];
      if (a > b) {
        s[t] = b;
        s[t + 1] = a;
      }
    }
    __syncthreads();
  }
  out[g] = s[t];
}

int main(int argc, char **argv) {
  bench::measureBlocks<int>(
      bench::label(argc, argv), "odd_even", std::to_string(BLOCK), BLOCK, BLOCK,
      [](const int *in, int *out, unsigned blocks) {
        oddEven<<<blocks, BLOCK>>>(in, out);
      });
  return 0;
}
