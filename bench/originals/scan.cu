// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inclusive sums of blocks after Hillis and Steele, in place with two barriers.

#include "blocks.cuh"

__global__ void scan(const TYPE *in, TYPE *out) {
  __shared__ TYPE s[BLOCK];
  const int t = threadIdx.x, g = blockIdx.x * BLOCK + t;
  s[t] = in[g];
  __syncthreads();
  for (int d = 1; d < BLOCK; d *= 2) {
    TYPE before = 0;
    if (t >= d)
      before = s[t - d];
    __syncthreads();
    s[t] += before;
    __syncthreads();
  }
  out[g] = s[t];
}

int main(int argc, char **argv) {
  bench::measureBlocks<TYPE>(
      bench::label(argc, argv), bench::named("scan", BENCH_TEXT(TYPE), 1),
      std::to_string(BLOCK), BLOCK, BLOCK,
      [](const TYPE *in, TYPE *out, unsigned blocks) {
        scan<<<blocks, BLOCK>>>(in, out);
      });
  return 0;
}
