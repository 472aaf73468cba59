// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tiled matrix product of the textbooks, any size: tiles at the edges are
// filled up with zeros.

#include "example.h"

#define TILE 16

// C (m x n) = A (m x k) * B (k x n), row by row.
__global__ void product(const float *A, const float *B, float *C, int m, int n,
                        int k) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
    const int ac = t * TILE + threadIdx.x, br = t * TILE + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = row < m && ac < k ? A[row * k + ac] : 0.0f;
    Bs[threadIdx.y][threadIdx.x] = br < k && col < n ? B[br * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i)
      sum += As[threadIdx.y][i] * Bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n)
    C[row * n + col] = sum;
}

int main(int argc, char **argv) {
  const int m = example::argument(argc, argv, 70), n = 83, k = 45;
  const auto a = example::numbers<float>(size_t(m) * k, 1);
  const auto b = example::numbers<float>(size_t(k) * n, 2);
  example::Buffer<float> A(a), B(b),
      C(std::vector<float>(size_t(m) * n, -1.0f));

  const dim3 block(TILE, TILE);
  const dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
  product<<<grid, block>>>(A.data(), B.data(), C.data(), m, n, k);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(size_t(m) * n);
  for (int y = 0; y < m; ++y)
    for (int x = 0; x < n; ++x) {
      float sum = 0;
      for (int i = 0; i < k; ++i)
        sum += a[y * k + i] * b[i * n + x];
      want[y * n + x] = sum;
    }
  return example::report("matrix_product", C.host(), want);
}
