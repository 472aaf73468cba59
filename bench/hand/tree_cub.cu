// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same sums by CUB's block reduction (another order of additions).

#include "../originals/blocks.cuh"
#include <cub/block/block_reduce.cuh>

#ifndef PER
#define PER 1
#endif

__global__ void tree(const TYPE *in, TYPE *sums, int n) {
  using Reduce = cub::BlockReduce<TYPE, BLOCK>;
  __shared__ typename Reduce::TempStorage storage;
  const int t = threadIdx.x, g = blockIdx.x * BLOCK * PER + t;
  TYPE mine[PER];
#pragma unroll
  for (int k = 0; k < PER; ++k)
    mine[k] = g + k * BLOCK < n ? in[g + k * BLOCK] : TYPE(0);
  const TYPE sum = Reduce(storage).Sum(mine);
  if (t == 0)
    sums[blockIdx.x] = sum;
}

int main(int argc, char **argv) {
  bench::measureBlocks<TYPE>(
      bench::label(argc, argv), bench::named("tree", BENCH_TEXT(TYPE), PER),
      std::to_string(BLOCK), BLOCK * PER, 1,
      [](const TYPE *in, TYPE *out, unsigned blocks) {
        tree<<<blocks, BLOCK>>>(in, out, int(blocks * BLOCK * PER) - 3);
      },
      /*sameBits=*/false);
  return 0;
}
