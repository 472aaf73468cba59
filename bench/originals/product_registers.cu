// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix product whose threads already have EACH x EACH sums in a private array:
// what a column of one tile and a row of the other need is copied to registers
// in each step. -DSIDE=64 -DDEPTH=8 -DEACH=4

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)
#define ROW (SIDE / EACH)

__global__ void product(const float *__restrict__ a,
                        const float *__restrict__ b, float *__restrict__ c,
                        int m, int n, int k) {
  __shared__ float left[SIDE][DEPTH];
  __shared__ float right[DEPTH][SIDE];
  const int tx = threadIdx.x, ty = threadIdx.y, id = ty * ROW + tx;
  const int row = blockIdx.y * SIDE, column = blockIdx.x * SIDE;
  float sum[EACH][EACH] = {};
  float x[EACH], y[EACH];
  for (int at = 0; at < k; at += DEPTH) {
    for (int e = id; e < SIDE * DEPTH; e += ROW * ROW) {
      const int i = e / DEPTH, j = e % DEPTH;
      left[i][j] =
          row + i < m && at + j < k ? a[(row + i) * k + at + j] : 0.0f;
    }
    for (int e = id; e < SIDE * DEPTH; e += ROW * ROW) {
      const int i = e / SIDE, j = e % SIDE;
      right[i][j] =
          at + i < k && column + j < n ? b[(at + i) * n + column + j] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < DEPTH; ++s) {
#pragma unroll
      for (int i = 0; i < EACH; ++i)
        x[i] = left[ty * EACH + i][s];
#pragma unroll
      for (int j = 0; j < EACH; ++j)
        y[j] = right[s][tx * EACH + j];
#pragma unroll
      for (int i = 0; i < EACH; ++i)
#pragma unroll
        for (int j = 0; j < EACH; ++j)
          sum[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < EACH; ++i)
#pragma unroll
    for (int j = 0; j < EACH; ++j)
      if (row + ty * EACH + i < m && column + tx * EACH + j < n)
        c[(row + ty * EACH + i) * n + column + tx * EACH + j] = sum[i][j];
}

int main(int argc, char **argv) {
  const int side = 2048;
  const size_t count = size_t(side) * side;
  const float *a = bench::random<float>(count, 1),
              *b = bench::random<float>(count, 2);
  float *c = bench::blank<float>(count);
  bench::Line line;
  line.Name = "product-registers" STRING(EACH);
  line.Shape = STRING(SIDE) "x" STRING(SIDE);
  line.Bytes = 3.0 * double(count) * 4;
  line.Operations = 2.0 * double(count) * side;
  const auto launch = [&](int m, int n, int k) {
    product<<<dim3((n + SIDE - 1) / SIDE, (m + SIDE - 1) / SIDE),
              dim3(ROW, ROW)>>>(a, b, c, m, n, k);
  };
  const int sizes[][3] = {{1, 1, 1}, {33, 77, 50}, {side, side, side}};
  for (auto &s : sizes) {
    BENCH_CHECK(cudaMemset(c, 0xff, count * 4));
    launch(s[0], s[1], s[2]);
    BENCH_CHECK(cudaGetLastError());
    line.Hashes.push_back(bench::hash(c, size_t(s[0]) * s[1] * 4));
  }
  line.Ms = bench::medianMs([&] { launch(side, side, side); }, 5);
  bench::print(bench::label(argc, argv), line);
  return 0;
}
