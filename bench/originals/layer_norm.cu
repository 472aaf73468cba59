// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layer norm of rows of BLOCK floats, a block a row: mean and variance by trees.

#include "blocks.cuh"

__global__ void norm(const float *in, float *out) {
  __shared__ float sums[BLOCK], squares[BLOCK];
  const int t = threadIdx.x, g = blockIdx.x * BLOCK + t;
  const float mine = in[g];
  sums[t] = mine;
  squares[t] = mine * mine;
  __syncthreads();
  for (int d = BLOCK / 2; d > 0; d >>= 1) {
    if (t < d) {
      sums[t] += sums[t + d];
      squares[t] += squares[t + d];
    }
    __syncthreads();
  }
  const float mean = sums[0] * (1.0f / BLOCK);
  const float variance = squares[0] * (1.0f / BLOCK) - mean * mean;
  out[g] = (mine - mean) * rsqrtf(variance + 1e-5f);
}

int main(int argc, char **argv) {
  bench::measureBlocks<float>(
      bench::label(argc, argv), "layer_norm", std::to_string(BLOCK), BLOCK,
      BLOCK, [](const float *in, float *out, unsigned blocks) {
        norm<<<blocks, BLOCK>>>(in, out);
      });
  return 0;
}
