// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finite differences in 3-D, radius 4: a plane in shared memory, the column
// along z in registers, the whole plane with its halo staged in each step.
// -DBX=32 -DBY=8

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)
#define RADIUS 4

__constant__ float weights[RADIUS + 1];

// Arrays are padded by RADIUS on every side; nx, ny, nz count inner points.
__global__ void wave(const float *__restrict__ in, float *__restrict__ out,
                     int nx, int ny, int nz) {
  __shared__ float tile[BY + 2 * RADIUS][BX + 2 * RADIUS];
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  const int tx = threadIdx.x + RADIUS, ty = threadIdx.y + RADIUS;
  const int pitch = nx + 2 * RADIUS, plane = pitch * (ny + 2 * RADIUS);
  const bool inside = x < nx && y < ny;
  int at = (y + RADIUS) * pitch + x + RADIUS;
  float before[RADIUS], here = 0, after[RADIUS];
#pragma unroll
  for (int i = 0; i < RADIUS; ++i)
    before[i] = after[i] = 0;
  if (inside) {
#pragma unroll
    for (int i = RADIUS - 1; i >= 0; --i, at += plane)
      before[i] = in[at];
    here = in[at];
#pragma unroll
    for (int i = 0; i < RADIUS; ++i)
      after[i] = in[at + (i + 1) * plane];
  }
  for (int z = 0; z < nz; ++z) {
    __syncthreads();
    for (int j = threadIdx.y; j < BY + 2 * RADIUS; j += BY)
      for (int i = threadIdx.x; i < BX + 2 * RADIUS; i += BX) {
        const int gx = blockIdx.x * BX + i, gy = blockIdx.y * BY + j;
        tile[j][i] = gx < nx + 2 * RADIUS && gy < ny + 2 * RADIUS
                         ? in[(z + RADIUS) * plane + gy * pitch + gx]
                         : 0.0f;
      }
    __syncthreads();
    float sum = weights[0] * here;
#pragma unroll
    for (int i = 1; i <= RADIUS; ++i)
      sum +=
          weights[i] * (before[i - 1] + after[i - 1] + tile[ty - i][tx] +
                        tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
    if (inside)
      out[at] = sum;
#pragma unroll
    for (int i = RADIUS - 1; i > 0; --i)
      before[i] = before[i - 1];
    before[0] = here;
    here = after[0];
#pragma unroll
    for (int i = 0; i < RADIUS - 1; ++i)
      after[i] = after[i + 1];
    at += plane;
    after[RADIUS - 1] =
        inside && z + RADIUS + 1 < nz + RADIUS ? in[at + RADIUS * plane] : 0.0f;
  }
}

int main(int argc, char **argv) {
  const float w[RADIUS + 1] = {-0.7f, 0.4f, -0.05f, 0.01f, -0.002f};
  BENCH_CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
  const int n = 384, padded = n + 2 * RADIUS;
  const size_t count = size_t(padded) * padded * padded;
  const float *in = bench::random<float>(count, 13);
  float *out = bench::blank<float>(count);
  const auto launch = [&](int nx, int ny, int nz) {
    wave<<<dim3((nx + BX - 1) / BX, (ny + BY - 1) / BY), dim3(BX, BY)>>>(
        in, out, nx, ny, nz);
  };
  bench::Line line;
  line.Name = "wave3d-r4";
  line.Shape = STRING(BX) "x" STRING(BY);
  line.Bytes = 8.0 * double(n) * n * n;
  line.Operations = 31.0 * double(n) * n * n;
  line.Fp32 = 25.0 * double(n) * n * n;
  const int sizes[][3] = {{1, 1, 5}, {65, 33, 7}, {100, 50, 20}, {n, n, n}};
  for (auto &z : sizes) {
    BENCH_CHECK(cudaMemset(out, 0xff, count * 4));
    launch(z[0], z[1], z[2]);
    BENCH_CHECK(cudaGetLastError());
    line.Hashes.push_back(bench::hash(out, count * 4));
  }
  line.Ms = bench::medianMs([&] { launch(n, n, n); }, 9);
  bench::print(bench::label(argc, argv), line);
  return 0;
}
