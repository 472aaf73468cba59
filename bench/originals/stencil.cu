// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The k-stencil of the register-cache literature, block size known at the
// launch only (dynamic shared memory). -DTYPE=float|int -DK=1...
//
// The last 2 K outputs read elements that nothing staged: they are not
// compared.

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

extern __shared__ TYPE s[];

__global__ void stencil(const TYPE *A, TYPE *B, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x;
  if (g >= n)
    return;
  s[l] = A[g];
  if (l < 2 * K && g + blockDim.x < n)
    s[l + blockDim.x] = A[g + blockDim.x];
  __syncthreads();
  TYPE sum = 0;
  for (int j = 0; j <= 2 * K; ++j)
    sum += s[l + j];
  B[g] = sum / (2 * K + 1);
}

static void launch(const TYPE *A, TYPE *B, int n, int block) {
  stencil<<<(n + block - 1) / block, block, (block + 2 * K) * sizeof(TYPE)>>>(
      A, B, n);
}

int main(int argc, char **argv) {
  bench::measure1d<TYPE>(bench::label(argc, argv),
                         "stencil-" STRING(TYPE) "-k" STRING(K), 2 * K, launch,
                         {64, 128, 256, 512, 1024},
                         TYPE(1) / 2 > 0 && sizeof(TYPE) == 4 ? 2 * K + 2 : 0);
  return 0;
}
