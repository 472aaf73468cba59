// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tiled matrix product, n = 4096, 32 x 32 tiles.

#include "../harness.cuh"

#define TILE 32

__global__ void product(const float *A, const float *B, float *C, int n) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int t = 0; t < n / TILE; ++t) {
    As[ty][tx] = A[row * n + t * TILE + tx];
    Bs[ty][tx] = B[(t * TILE + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

int main(int argc, char **argv) {
  const int n = 4096;
  const size_t count = size_t(n) * n;
  float *A = bench::random<float>(count, 1),
        *B = bench::random<float>(count, 2);
  float *C = bench::blank<float>(count);
  bench::Line line;
  line.Name = "matmul-4096";
  line.Shape = "32x32";
  line.Bytes = 3.0 * double(count) * 4;
  line.Operations = 2.0 * double(count) * n;
  // The tool counts a loop of unknown length as 8 rounds.
  line.Outputs = double(count) * (n / TILE) / 8;
  line.Fp32 = double(count) * n;
  const auto launch = [&](int size) {
    product<<<dim3(size / TILE, size / TILE), dim3(TILE, TILE)>>>(A, B, C,
                                                                  size);
  };
  for (int size : {32, 288, n}) {
    BENCH_CHECK(cudaMemset(C, 0xff, count * 4));
    launch(size);
    BENCH_CHECK(cudaGetLastError());
    line.Hashes.push_back(bench::hash(C, size_t(size) * size * 4));
  }
  line.Ms = bench::medianMs([&] { launch(n); }, 5);
  bench::print(bench::label(argc, argv), line);
  return 0;
}
