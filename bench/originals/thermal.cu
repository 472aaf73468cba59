// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of heat conduction with a source: two staged arrays, clamped borders.
// -DTYPE=float|double -DBX=16 -DBY=16

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

__global__ void thermal(const TYPE *temperature, const TYPE *power, TYPE *out,
                        int w, int h) {
  __shared__ TYPE t[BY + 2][BX + 2];
  __shared__ TYPE p[BY][BX];
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  for (int j = threadIdx.y; j < BY + 2; j += BY)
    for (int i = threadIdx.x; i < BX + 2; i += BX) {
      const int sy = min(max(int(blockIdx.y * BY) + j - 1, 0), h - 1);
      const int sx = min(max(int(blockIdx.x * BX) + i - 1, 0), w - 1);
      t[j][i] = temperature[sy * w + sx];
    }
  if (x < w && y < h)
    p[threadIdx.y][threadIdx.x] = power[y * w + x];
  __syncthreads();
  if (x < w && y < h) {
    const int i = threadIdx.x + 1, j = threadIdx.y + 1;
    const TYPE here = t[j][i];
    out[y * w + x] =
        here +
        TYPE(0.2) * (p[j - 1][i - 1] +
                     (t[j - 1][i] + t[j + 1][i] - TYPE(2) * here) * TYPE(0.3) +
                     (t[j][i - 1] + t[j][i + 1] - TYPE(2) * here) * TYPE(0.4) +
                     (TYPE(80) - here) * TYPE(0.01));
  }
}

int main(int argc, char **argv) {
  const int side = 8192;
  const size_t count = size_t(side) * side;
  const TYPE *power = bench::random<TYPE>(count, 11);
  bench::measure2d<TYPE>(
      bench::label(argc, argv), "thermal-" STRING(TYPE),
      STRING(BX) "x" STRING(BY), 15,
      [&](const TYPE *in, TYPE *out, int w, int h) {
        thermal<<<dim3((w + BX - 1) / BX, (h + BY - 1) / BY), dim3(BX, BY)>>>(
            in, power, out, w, h);
      },
      side, 3.0 * sizeof(TYPE));
  return 0;
}
