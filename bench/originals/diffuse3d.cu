// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A 3-D 7-point step with whole 3-D tiles; the faces are copied.
// Blocks of 32 x 4 x 4.

#include "../harness.cuh"

#define BX 32
#define BY 4
#define BZ 4

__global__ void diffuse(const float *in, float *out, int nx, int ny, int nz) {
  __shared__ float s[BZ + 2][BY + 2][BX + 2];
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  const int z = blockIdx.z * BZ + threadIdx.z;
  for (int k = threadIdx.z; k < BZ + 2; k += BZ)
    for (int j = threadIdx.y; j < BY + 2; j += BY)
      for (int i = threadIdx.x; i < BX + 2; i += BX) {
        const int gx = min(max(int(blockIdx.x * BX) + i - 1, 0), nx - 1);
        const int gy = min(max(int(blockIdx.y * BY) + j - 1, 0), ny - 1);
        const int gz = min(max(int(blockIdx.z * BZ) + k - 1, 0), nz - 1);
        s[k][j][i] = in[(gz * ny + gy) * nx + gx];
      }
  __syncthreads();
  if (x < nx && y < ny && z < nz) {
    const int i = threadIdx.x + 1, j = threadIdx.y + 1, k = threadIdx.z + 1;
    out[(z * ny + y) * nx + x] =
        0.4f * s[k][j][i] +
        0.1f * (s[k - 1][j][i] + s[k + 1][j][i] + s[k][j - 1][i] +
                s[k][j + 1][i] + s[k][j][i - 1] + s[k][j][i + 1]);
  }
}

int main(int argc, char **argv) {
  const int n = 512;
  const size_t count = size_t(n) * n * n;
  const float *in = bench::random<float>(count, 9);
  float *out = bench::blank<float>(count);
  const auto launch = [&](int nx, int ny, int nz) {
    diffuse<<<dim3((nx + BX - 1) / BX, (ny + BY - 1) / BY, (nz + BZ - 1) / BZ),
              dim3(BX, BY, BZ)>>>(in, out, nx, ny, nz);
  };
  bench::Line line;
  line.Name = "diffuse3d-512";
  line.Shape = "32x4x4";
  line.Bytes = 8.0 * double(count);
  line.Operations = 8.0 * double(count);
  const int sizes[][3] = {{3, 3, 3}, {65, 33, 7}, {100, 50, 20}, {n, n, n}};
  for (auto &z : sizes) {
    BENCH_CHECK(cudaMemset(out, 0xff, count * 4));
    launch(z[0], z[1], z[2]);
    BENCH_CHECK(cudaGetLastError());
    line.Hashes.push_back(bench::hash(out, size_t(z[0]) * z[1] * z[2] * 4));
  }
  line.Ms = bench::medianMs([&] { launch(n, n, n); }, 9);
  bench::print(bench::label(argc, argv), line);
  return 0;
}
