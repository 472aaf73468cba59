// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiled products of matrices. -DTILE=8|16|32 -DFORM=1 square, 2 any size with
// guarded edges, 3 batched, 4 with B transposed and padded tiles.

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

// C (m x n) = A (m x k) B (k x n).
__global__ void product(const float *A, const float *B, float *C, int m, int n,
                        int k) {
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
#if FORM == 1 || FORM == 3
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
#if FORM == 3
  const float *a = A + size_t(blockIdx.z) * m * k;
  const float *b = B + size_t(blockIdx.z) * k * n;
  float *c = C + size_t(blockIdx.z) * m * n;
#else
  const float *a = A, *b = B;
  float *c = C;
#endif
  for (int t = 0; t < k / TILE; ++t) {
    As[ty][tx] = a[row * k + t * TILE + tx];
    Bs[ty][tx] = b[(t * TILE + ty) * n + col];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i)
      sum += As[ty][i] * Bs[i][tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
#elif FORM == 2
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
    As[ty][tx] =
        row < m && t * TILE + tx < k ? A[row * k + t * TILE + tx] : 0.0f;
    Bs[ty][tx] =
        t * TILE + ty < k && col < n ? B[(t * TILE + ty) * n + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i)
      sum += As[ty][i] * Bs[i][tx];
    __syncthreads();
  }
  if (row < m && col < n)
    C[row * n + col] = sum;
#else
  __shared__ float As[TILE][TILE + 1];
  __shared__ float Bs[TILE][TILE + 1];
  const int first = blockIdx.x * TILE;
  for (int t = 0; t < k / TILE; ++t) {
    As[ty][tx] = A[row * k + t * TILE + tx];
    Bs[ty][tx] = B[(first + ty) * k + t * TILE + tx]; // B is n x k
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i)
      sum += As[ty][i] * Bs[tx][i];
    __syncthreads();
  }
  C[row * n + col] = sum;
#endif
}

int main(int argc, char **argv) {
  const int side = FORM == 3 ? 512 : 2048, batch = FORM == 3 ? 16 : 1;
  const size_t count = size_t(side) * side * batch;
  const float *A = bench::random<float>(count, 1),
              *B = bench::random<float>(count, 2);
  float *C = bench::blank<float>(count);
  bench::Line line;
  line.Name = "product" STRING(FORM) "-tile" STRING(TILE);
  line.Shape = STRING(TILE) "x" STRING(TILE);
  line.Bytes = 3.0 * double(count) * 4;
  line.Operations = 2.0 * double(count) * side;
  const auto launch = [&](int m, int n, int k) {
    product<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE, batch),
              dim3(TILE, TILE)>>>(A, B, C, m, n, k);
  };
  const int sizes[][3] = {{32, 32, 32}, {64, 288, 96}, {side, side, side}};
  const int odd[][3] = {{1, 1, 1}, {33, 77, 50}, {side - 1, side - 3, side}};
  for (auto &s : FORM == 2 ? odd : sizes) {
    BENCH_CHECK(cudaMemset(C, 0xff, count * 4));
    launch(s[0], s[1], s[2]);
    BENCH_CHECK(cudaGetLastError());
    line.Hashes.push_back(bench::hash(C, size_t(s[0]) * s[1] * batch * 4));
  }
  line.Ms = bench::medianMs([&] { launch(side, side, side); }, 5);
  bench::print(bench::label(argc, argv), line);
  return 0;
}
