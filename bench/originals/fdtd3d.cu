// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finite differences in 3-D, radius 4, in the manner of the toolkit's sample
// FDTD3d: a plane in shared memory whose middle comes from the register queue
// along z and whose halo is loaded by the threads at its edges. -DBX=32 -DBY=8

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

#define RADIUS 4

__constant__ float stencil[RADIUS + 1];

// Arrays are padded by RADIUS on every side; nx, ny, nz count inner points.
__global__ void fdtd(float *__restrict__ output,
                     const float *__restrict__ input, int nx, int ny, int nz) {
  __shared__ float tile[BY + 2 * RADIUS][BX + 2 * RADIUS];
  const int gx = blockIdx.x * BX + threadIdx.x;
  const int gy = blockIdx.y * BY + threadIdx.y;
  const int lx = threadIdx.x, ly = threadIdx.y;
  const int tx = lx + RADIUS, ty = ly + RADIUS;
  const int stride_y = nx + 2 * RADIUS;
  const int stride_z = stride_y * (ny + 2 * RADIUS);
  // Blocks that reach beyond the volume load what is there and store nothing.
  const bool valid = gx < nx && gy < ny;
  const bool near = gx < nx + RADIUS && gy < ny + RADIUS;
  int inputIndex = (gy + RADIUS) * stride_y + gx + RADIUS;
  int outputIndex = 0;
  float infront[RADIUS], behind[RADIUS], current = 0;
#pragma unroll
  for (int i = RADIUS - 2; i >= 0; --i) {
    behind[i] = near ? input[inputIndex] : 0.0f;
    inputIndex += stride_z;
  }
  current = near ? input[inputIndex] : 0.0f;
  outputIndex = inputIndex;
  inputIndex += stride_z;
#pragma unroll
  for (int i = 0; i < RADIUS; ++i) {
    infront[i] = near ? input[inputIndex] : 0.0f;
    inputIndex += stride_z;
  }
  behind[RADIUS - 1] = 0;
  for (int iz = 0; iz < nz; ++iz) {
#pragma unroll
    for (int i = RADIUS - 1; i > 0; --i)
      behind[i] = behind[i - 1];
    behind[0] = current;
    current = infront[0];
#pragma unroll
    for (int i = 0; i < RADIUS - 1; ++i)
      infront[i] = infront[i + 1];
    infront[RADIUS - 1] = near ? input[inputIndex] : 0.0f;
    inputIndex += stride_z;
    outputIndex += stride_z;
    __syncthreads();
    if (ly < RADIUS) {
      tile[ly][tx] = near ? input[outputIndex - RADIUS * stride_y] : 0.0f;
      tile[ly + BY + RADIUS][tx] = gx < nx + RADIUS && gy + BY < ny + RADIUS
                                       ? input[outputIndex + BY * stride_y]
                                       : 0.0f;
    }
    if (lx < RADIUS) {
      tile[ty][lx] = near ? input[outputIndex - RADIUS] : 0.0f;
      tile[ty][lx + BX + RADIUS] = gx + BX < nx + RADIUS && gy < ny + RADIUS
                                       ? input[outputIndex + BX]
                                       : 0.0f;
    }
    tile[ty][tx] = current;
    __syncthreads();
    float value = stencil[0] * current;
#pragma unroll
    for (int i = 1; i <= RADIUS; ++i)
      value +=
          stencil[i] * (infront[i - 1] + behind[i - 1] + tile[ty - i][tx] +
                        tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i]);
    if (valid)
      output[outputIndex] = value;
  }
}

int main(int argc, char **argv) {
  const float w[RADIUS + 1] = {-0.7f, 0.4f, -0.05f, 0.01f, -0.002f};
  BENCH_CHECK(cudaMemcpyToSymbol(stencil, w, sizeof w));
  const int n = 384, padded = n + 2 * RADIUS;
  const size_t count = size_t(padded) * padded * padded;
  const float *in = bench::random<float>(count, 13);
  float *out = bench::blank<float>(count);
  const auto launch = [&](int nx, int ny, int nz) {
    fdtd<<<dim3((nx + BX - 1) / BX, (ny + BY - 1) / BY), dim3(BX, BY)>>>(
        out, in, nx, ny, nz);
  };
  bench::Line line;
  line.Name = "fdtd3d-r4";
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
