// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same sums by CUB's block scan (another order of additions).

#include "../originals/blocks.cuh"
#include <cub/block/block_scan.cuh>

__global__ void scan(const TYPE *in, TYPE *out) {
  using Scan = cub::BlockScan<TYPE, BLOCK>;
  __shared__ typename Scan::TempStorage storage;
  const int g = blockIdx.x * BLOCK + threadIdx.x;
  TYPE sum;
  Scan(storage).InclusiveSum(in[g], sum);
  out[g] = sum;
}

int main(int argc, char **argv) {
  bench::measureBlocks<TYPE>(
      bench::label(argc, argv), bench::named("scan", BENCH_TEXT(TYPE), 1),
      std::to_string(BLOCK), BLOCK, BLOCK,
      [](const TYPE *in, TYPE *out, unsigned blocks) {
        scan<<<blocks, BLOCK>>>(in, out);
      },
      /*sameBits=*/false);
  return 0;
}
