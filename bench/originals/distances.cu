// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Squared distances between all pairs of points of 64 dimensions, tiles of
// 16 x 16.

#include "../harness.cuh"

#define TILE 16
#define DIMENSIONS 64

__global__ void distances(const float *__restrict__ p,
                          const float *__restrict__ q, float *__restrict__ out,
                          int n) {
  __shared__ float ps[TILE][TILE + 1];
  __shared__ float qs[TILE][TILE + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int first = blockIdx.x * TILE;
  const int row = blockIdx.y * TILE + ty;
  float sum = 0;
  for (int t = 0; t < DIMENSIONS; t += TILE) {
    ps[ty][tx] = p[row * DIMENSIONS + t + tx];
    qs[ty][tx] = q[(first + ty) * DIMENSIONS + t + tx];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i) {
      const float d = ps[ty][i] - qs[tx][i];
      sum += d * d;
    }
    __syncthreads();
  }
  out[row * n + first + tx] = sum;
}

int main(int argc, char **argv) {
  const int n = 8192;
  const float *p = bench::random<float>(size_t(n) * DIMENSIONS, 1),
              *q = bench::random<float>(size_t(n) * DIMENSIONS, 2);
  float *out = bench::blank<float>(size_t(n) * n);
  const auto launch = [&](int count) {
    distances<<<dim3(count / TILE, count / TILE), dim3(TILE, TILE)>>>(p, q, out,
                                                                      count);
  };
  bench::Line line;
  line.Name = "distances-8192";
  line.Shape = "16x16";
  line.Bytes = 4.0 * n * n + 8.0 * n * DIMENSIONS;
  line.Operations = 3.0 * n * double(n) * DIMENSIONS;
  for (int count : {TILE, 5 * TILE, n}) {
    BENCH_CHECK(cudaMemset(out, 0xff, size_t(n) * n * 4));
    launch(count);
    BENCH_CHECK(cudaGetLastError());
    line.Hashes.push_back(bench::hash(out, size_t(count) * count * 4));
  }
  line.Ms = bench::medianMs([&] { launch(n); }, 9);
  bench::print(bench::label(argc, argv), line);
  return 0;
}
