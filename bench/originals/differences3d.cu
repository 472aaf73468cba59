// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finite differences in 3-D of any radius and type: a plane in shared memory whose halo the block's
// edges load, the planes in front of and behind it in private arrays that short
// loops fill and move on; threads outside the volume load nothing.
// -DTYPE=float -DRADIUS=4 -DBX=32 -DBY=16

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

__constant__ TYPE weights[RADIUS + 1];

// Arrays are padded by RADIUS on every side; nx, ny, nz count inner points.
__global__ void differences(TYPE *result, const TYPE *volume, const int nx,
                            const int ny, const int nz) {
  bool loads = true, stores = true;
  const int gx = blockIdx.x * blockDim.x + threadIdx.x;
  const int gy = blockIdx.y * blockDim.y + threadIdx.y;
  const int lx = threadIdx.x, ly = threadIdx.y;
  const int width = blockDim.x, height = blockDim.y;
  __shared__ TYPE tile[BY + 2 * RADIUS][BX + 2 * RADIUS];
  const int row = nx + 2 * RADIUS, plane = row * (ny + 2 * RADIUS);
  int from = RADIUS * row + RADIUS, to = 0;
  from += gy * row + gx;
  TYPE ahead[RADIUS], back[RADIUS], here;
  const int tx = lx + RADIUS, ty = ly + RADIUS;
  if (gx >= nx + RADIUS || gy >= ny + RADIUS)
    loads = false;
  if (gx >= nx || gy >= ny)
    stores = false;
  for (int i = RADIUS - 2; i >= 0; i--) {
    if (loads)
      back[i] = volume[from];
    from += plane;
  }
  if (loads)
    here = volume[from];
  to = from;
  from += plane;
  for (int i = 0; i < RADIUS; i++) {
    if (loads)
      ahead[i] = volume[from];
    from += plane;
  }
#pragma unroll 9
  for (int z = 0; z < nz; z++) {
    for (int i = RADIUS - 1; i > 0; i--)
      back[i] = back[i - 1];
    back[0] = here;
    here = ahead[0];
#pragma unroll
    for (int i = 0; i < RADIUS - 1; i++)
      ahead[i] = ahead[i + 1];
    if (loads)
      ahead[RADIUS - 1] = volume[from];
    from += plane;
    to += plane;
    __syncthreads();
    if (ly < RADIUS) {
      tile[ly][tx] = volume[to - RADIUS * row];
      tile[ly + height + RADIUS][tx] = volume[to + height * row];
    }
    if (lx < RADIUS) {
      tile[ty][lx] = volume[to - RADIUS];
      tile[ty][lx + width + RADIUS] = volume[to + width];
    }
    tile[ty][tx] = here;
    __syncthreads();
    TYPE sum = weights[0] * here;
#pragma unroll
    for (int i = 1; i <= RADIUS; i++)
      sum += weights[i] *
             (ahead[i - 1] + back[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] +
              tile[ty][tx - i] + tile[ty][tx + i]);
    if (stores)
      result[to] = sum;
  }
}

int main(int argc, char **argv) {
  TYPE w[RADIUS + 1];
  for (int i = 0; i <= RADIUS; ++i)
    w[i] = TYPE(i ? 0.3 : -0.7) / TYPE(i * i + 1);
  BENCH_CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
  const int n = 384;
  const size_t count = size_t(n + 2 * RADIUS) * (n + 2 * RADIUS + BY) *
                           (n + 2 * RADIUS + 1) +
                       size_t(n + 2 * RADIUS) * (n + 2 * RADIUS);
  const TYPE *volume = bench::random<TYPE>(count, 17);
  TYPE *result = bench::blank<TYPE>(count);
  const auto launch = [&](int nx, int ny, int nz) {
    differences<<<dim3((nx + BX - 1) / BX, (ny + BY - 1) / BY), dim3(BX, BY)>>>(
        result, volume, nx, ny, nz);
  };
  bench::Line line;
  line.Name = "differences3d-r" STRING(RADIUS) "-" STRING(TYPE);
  line.Shape = STRING(BX) "x" STRING(BY);
  line.Bytes = 2.0 * sizeof(TYPE) * n * n * n;
  line.Operations = (7.0 * RADIUS + 1) * n * n * n;
  if (sizeof(TYPE) == 4)
    line.Fp32 = (6.0 * RADIUS + 1) * n * n * n;
  const int sizes[][3] = {{1, 1, 5}, {65, 33, 7}, {100, 50, 20}, {n, n, n}};
  for (auto &z : sizes) {
    BENCH_CHECK(cudaMemset(result, 0xff, count * sizeof(TYPE)));
    launch(z[0], z[1], z[2]);
    BENCH_CHECK(cudaGetLastError());
    line.Hashes.push_back(bench::hash(result, count * sizeof(TYPE)));
  }
  line.Ms = bench::medianMs([&] { launch(n, n, n); }, 9);
  bench::print(bench::label(argc, argv), line);
  return 0;
}
