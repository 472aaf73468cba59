// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of 2 x 2 pixels where all four are there: rows of the result are one
// shorter than those of the image, and start where vectors may not.

#include "../harness.cuh"

using byte = unsigned char;

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define TX BX
#define TY BY

__global__ void corners(const FROM *__restrict__ in, TO *__restrict__ out,
                        int w, int h) {
  __shared__ FROM s[TY + 1][TX + 1];
  const int x0 = blockIdx.x * TX, y0 = blockIdx.y * TY;
  for (int r = threadIdx.y; r <= TY; r += TY)
    for (int c = threadIdx.x; c <= TX; c += TX)
      s[r][c] = x0 + c < w && y0 + r < h ? in[(y0 + r) * w + x0 + c] : FROM(0);
  __syncthreads();
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  if (x < w - 1 && y < h - 1)
    out[y * (w - 1) + x] =
        TO(s[threadIdx.y][threadIdx.x] + s[threadIdx.y][threadIdx.x + 1] +
           s[threadIdx.y + 1][threadIdx.x] +
           s[threadIdx.y + 1][threadIdx.x + 1]);
}

int main(int argc, char **argv) {
  FROM *in = bench::random<FROM>(size_t(1) << 28, 3);
  TO *out = bench::blank<TO>(size_t(1) << 28);
  auto launch = [&](int w, int h) {
    dim3 grid((w - 1 + TX - 1) / TX, (h - 1 + TY - 1) / TY), block(TX, TY);
    corners<<<grid, block>>>(in, out, w, h);
  };
  bench::Line line;
  line.Name = "corners_" TEXT(FROM) "_" TEXT(TO);
  line.Shape = std::to_string(BX) + "x" + std::to_string(BY);
  const int sizes[][2] = {{2, 2}, {517, 3}, {1000, 999}, {1003, 77}, {7000, 9000}};
  for (auto &s : sizes) {
    const size_t bytes = size_t(s[0] - 1) * (s[1] - 1) * sizeof(TO);
    BENCH_CHECK(cudaMemset(out, 0xff, bytes));
    launch(s[0], s[1]);
    BENCH_CHECK(cudaGetLastError());
    line.Hashes.push_back(bench::hash(out, bytes & ~size_t(3)));
  }
  line.Bytes = 7000.0 * 9000 * (sizeof(FROM) + sizeof(TO));
  line.Outputs = 7000.0 * 9000;
  line.Ms = bench::medianMs([&] { launch(7000, 9000); });
  bench::print(bench::label(argc, argv), line);
  return 0;
}
