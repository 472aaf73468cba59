// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The k-stencil with its block size in the source. -DTYPE -DK -DBLOCK

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

__global__ void stencil(const TYPE *A, TYPE *B, int n) {
  __shared__ TYPE s[BLOCK + 2 * K];
  int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x;
  if (g >= n)
    return;
  s[l] = A[g];
  if (l < 2 * K && g + BLOCK < n)
    s[l + BLOCK] = A[g + BLOCK];
  __syncthreads();
  TYPE sum = 0;
#pragma unroll
  for (int j = 0; j <= 2 * K; ++j)
    sum += s[l + j];
  B[g] = sum / (2 * K + 1);
}

static void launch(const TYPE *A, TYPE *B, int n, int) {
  stencil<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(A, B, n);
}

int main(int argc, char **argv) {
  bench::measure1d<TYPE>(bench::label(argc, argv),
                         "stencil-static-" STRING(TYPE) "-k" STRING(K), 2 * K,
                         launch, {BLOCK});
  return 0;
}
