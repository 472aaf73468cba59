// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of blocks by a tree in shared memory, PER elements a thread.

#include "blocks.cuh"

#ifndef PER
#define PER 1
#endif

__global__ void tree(const TYPE *in, TYPE *sums, int n) {
  __shared__ TYPE s[BLOCK];
  const int t = threadIdx.x, g = blockIdx.x * BLOCK * PER + t;
  TYPE sum = 0;
#pragma unroll
  for (int k = 0; k < PER; ++k)
    sum += g + k * BLOCK < n ? in[g + k * BLOCK] : TYPE(0);
  s[t] = sum;
  __syncthreads();
  for (int step = BLOCK / 2; step > 0; step /= 2) {
    if (t < step)
      s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = s[0];
}

int main(int argc, char **argv) {
  bench::measureBlocks<TYPE>(
      bench::label(argc, argv), bench::named("tree", BENCH_TEXT(TYPE), PER),
      std::to_string(BLOCK), BLOCK * PER, 1,
      [](const TYPE *in, TYPE *out, unsigned blocks) {
        tree<<<blocks, BLOCK>>>(in, out, int(blocks * BLOCK * PER) - 3);
      });
  return 0;
}
