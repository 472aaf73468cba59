// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The 7-point stencil in three dimensions: a plane in shared memory, the column
// along z in registers. -DBX=32 -DBY=8; 512^3 points.

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

// Points at the faces are not written.
__global__ void laplace(const float *in, float *out, int nx, int ny, int nz) {
  __shared__ float s[BY + 2][BX + 2];
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  const int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  const int plane = nx * ny;
  const bool point = x < nx && y < ny;
  const bool inner = x > 0 && y > 0 && x < nx - 1 && y < ny - 1;
  int at = y * nx + x;
  float below = 0, here = 0, above = 0;
  if (point) {
    here = in[at];
    above = in[at + plane];
  }
  for (int z = 1; z < nz - 1; ++z) {
    at += plane;
    below = here;
    here = above;
    above = point ? in[at + plane] : 0.0f;
    __syncthreads();
    s[ly][lx] = here;
    if (threadIdx.x == 0 && inner)
      s[ly][0] = in[at - 1];
    if (threadIdx.x == BX - 1 && inner)
      s[ly][BX + 1] = in[at + 1];
    if (threadIdx.y == 0 && inner)
      s[0][lx] = in[at - nx];
    if (threadIdx.y == BY - 1 && inner)
      s[BY + 1][lx] = in[at + nx];
    __syncthreads();
    if (inner)
      out[at] =
          0.4f * here + 0.1f * (below + above + s[ly][lx - 1] + s[ly][lx + 1] +
                                s[ly - 1][lx] + s[ly + 1][lx]);
  }
}

int main(int argc, char **argv) {
  const int n = 512;
  const size_t count = size_t(n) * n * n;
  float *in = bench::random<float>(count, 9), *out = bench::blank<float>(count);
  const auto launch = [&](int nx, int ny, int nz) {
    laplace<<<dim3((nx + BX - 1) / BX, (ny + BY - 1) / BY), dim3(BX, BY)>>>(
        in, out, nx, ny, nz);
  };
  bench::Line line;
  line.Name = "laplace3d-512";
  line.Shape = STRING(BX) "x" STRING(BY);
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
