// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The k-stencil of the register-cache literature: each output is the mean of
// 2 K + 1 neighbours, which the block stages in shared memory.

#include "example.h"

#define K 8
#define BLOCK 256

// A holds n + 2 * K elements, B holds n.
__global__ void kStencil(const float *A, float *B, int n) {
  __shared__ float s[BLOCK + 2 * K];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  int l = threadIdx.x;

  // Every thread loads its element, the first 2 K load the tail.
  if (g < n + 2 * K)
    s[l] = A[g];
  if (l < 2 * K && g + BLOCK < n + 2 * K)
    s[l + BLOCK] = A[g + BLOCK];
  __syncthreads();

  if (g >= n)
    return;
  float sum = 0;
  for (int j = 0; j <= 2 * K; ++j)
    sum += s[l + j];
  B[g] = sum / (2 * K + 1);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 10000);
  const std::vector<float> a = example::numbers<float>(n + 2 * K);
  example::Buffer<float> A(a), B(std::vector<float>(n, -1.0f));

  kStencil<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(A.data(), B.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(n);
  for (int g = 0; g < n; ++g) {
    float sum = 0;
    for (int j = 0; j <= 2 * K; ++j)
      sum += a[g + j];
    want[g] = sum / (2 * K + 1);
  }
  return example::report("k_stencil", B.host(), want);
}
