// What nvcc accepts and clang alone does not: host min and max, removed calls,
// texture references, CCCL headers, code of older standards, what clang has a default
// error for.
// REQUIRES: cuda-toolkit
// RUN: %rewrite %s -q --cuda-path=%cuda -o %t.cu -- -std=c++17 -arch=sm_80 --expt-relaxed-constexpr
// RUN: diff %s %t.cu
// RUN: not %rewrite %s -q --cuda-path=%t 2>&1 | FileCheck %s --check-prefix=PATH
// PATH: error: no CUDA toolkit in
#include <cooperative_groups.h>
#include <cub/cub.cuh>

texture<float, 1, cudaReadModeElementType> table;

__global__ void copy(float *out, int n) {
  register int i = min(blockIdx.x * blockDim.x + threadIdx.x, n - 1u);
  cooperative_groups::this_thread_block().sync();
  out[i] = tex1Dfetch(table, i);
}

int launch(float *out, int n, unsigned m) {
  copy<<<max(1, n / 128), min(128u, m)>>>(out, n);
  cudaBindTexture(0, table, out, n * sizeof(float));
  cudaThreadSynchronize();
  char narrow[] = {char(n), (char)0x7f};
  bool odd = 0 < narrow[0] < 1; // of three
  return narrow[0] + (int)max(1.0f, 2.0) + odd;
}
