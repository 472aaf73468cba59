// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax of rows of BLOCK floats, a block a row: maximum and sum by trees.

#include "blocks.cuh"

__global__ void softmax(const float *in, float *out) {
  __shared__ float s[BLOCK];
  const int t = threadIdx.x, g = blockIdx.x * BLOCK + t;
  const float mine = in[g];
  s[t] = mine;
  __syncthreads();
  for (int d = BLOCK / 2; d > 0; d >>= 1) {
    if (t < d)
      s[t] = fmaxf(s[t], s[t + d]);
    __syncthreads();
  }
  const float largest = s[0];
  __syncthreads();
  const float e = expf(mine - largest);
  s[t] = e;
  __syncthreads();
  for (int d = BLOCK / 2; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  out[g] = e / s[0];
}

int main(int argc, char **argv) {
  bench::measureBlocks<float>(
      bench::label(argc, argv), "block_softmax", std::to_string(BLOCK), BLOCK,
      BLOCK, [](const float *in, float *out, unsigned blocks) {
        softmax<<<blocks, BLOCK>>>(in, out);
      });
  return 0;
}
