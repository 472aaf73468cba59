// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matrix product of originals/matmul.cu without tiles, and with tiles of
// 64 x 64 and 4 x 4 outputs a thread, as it is usually written by hand. The
// sums keep their order, so the bits are the original's.

#include "../harness.cuh"

__global__ void naive(const float *A, const float *B, float *C, int n) {
  const int col = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= n || col >= n)
    return;
  float sum = 0;
  for (int k = 0; k < n; ++k)
    sum += A[row * n + k] * B[k * n + col];
  C[row * n + col] = sum;
}

constexpr int Tile = 64, Depth = 16, Each = 4, Side = Tile / Each;

__global__ void coarsened(const float *A, const float *B, float *C, int n) {
  __shared__ float As[Depth][Tile + 4], Bs[Depth][Tile];
  const int t = threadIdx.y * Side + threadIdx.x;
  const int row = blockIdx.y * Tile, col = blockIdx.x * Tile;
  float sum[Each][Each] = {};
  for (int k = 0; k < n; k += Depth) {
#pragma unroll
    for (int l = 0; l < Tile * Depth / (Side * Side); ++l) {
      const int i = t + l * Side * Side;
      const int ar = i / Depth, ak = i % Depth;
      As[ak][ar] = row + ar < n ? A[(row + ar) * n + k + ak] : 0.0f;
      const int bk = i / Tile, bc = i % Tile;
      Bs[bk][bc] = col + bc < n ? B[(k + bk) * n + col + bc] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < Depth; ++d) {
      const float4 a =
          *reinterpret_cast<const float4 *>(&As[d][threadIdx.y * Each]);
      const float4 b =
          *reinterpret_cast<const float4 *>(&Bs[d][threadIdx.x * Each]);
      const float x[Each] = {a.x, a.y, a.z, a.w},
                  y[Each] = {b.x, b.y, b.z, b.w};
#pragma unroll
      for (int i = 0; i < Each; ++i)
#pragma unroll
        for (int j = 0; j < Each; ++j)
          sum[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < Each; ++i)
#pragma unroll
    for (int j = 0; j < Each; ++j) {
      const int r = row + threadIdx.y * Each + i,
                c = col + threadIdx.x * Each + j;
      if (r < n && c < n)
        C[r * n + c] = sum[i][j];
    }
}

static bench::Line product4096(int n) {
  bench::Line line;
  line.Name = "matmul-4096";
  line.Bytes = 3.0 * double(n) * n * 4;
  line.Operations = 2.0 * double(n) * n * n;
  line.Fp32 = double(n) * n * n;
  return line;
}

int main() {
  const int n = 4096;
  const size_t count = size_t(n) * n;
  const float *A = bench::random<float>(count, 1),
              *B = bench::random<float>(count, 2);
  float *C = bench::blank<float>(count);
  const auto measure = [&](const char *form, const char *shape, auto launch) {
    bench::Line line = product4096(n);
    line.Shape = shape;
    for (int size : {32, 288, n}) {
      BENCH_CHECK(cudaMemset(C, 0xff, count * 4));
      launch(size);
      BENCH_CHECK(cudaGetLastError());
      line.Hashes.push_back(bench::hash(C, size_t(size) * size * 4));
    }
    line.Ms = bench::medianMs([&] { launch(n); }, 5);
    bench::print(form, line);
  };
  measure("naive", "32x8", [&](int size) {
    naive<<<dim3((size + 31) / 32, (size + 7) / 8), dim3(32, 8)>>>(A, B, C,
                                                                   size);
  });
  measure("shared, 4x4 a thread", "16x16", [&](int size) {
    const int blocks = (size + Tile - 1) / Tile;
    coarsened<<<dim3(blocks, blocks), dim3(Side, Side)>>>(A, B, C, size);
  });
  return 0;
}
