// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step of the acoustic wave equation in three dimensions, eighth order in
// space: each thread walks along z with a queue of planes in registers.
#include "timing.h"

constexpr int Radius = 4, BlockX = 32, BlockY = 8;

struct Coefficients {
  float c[Radius + 1];
};

__global__ void fdtd(const float *__restrict__ now, const float *__restrict__ before, const float *__restrict__ velocity,
                     float *__restrict__ next, int nx, int ny, int nz, Coefficients k) {
  const int x = blockIdx.x * BlockX + threadIdx.x + Radius, y = blockIdx.y * BlockY + threadIdx.y + Radius;
  if (x >= nx - Radius || y >= ny - Radius)
    return;
  const int plane = nx * ny;
  int at = y * nx + x;
  float behind[Radius], ahead[Radius], current;
#pragma unroll
  for (int i = 0; i < Radius; ++i)
    behind[Radius - 1 - i] = now[at + i * plane];
  current = now[at + Radius * plane];
#pragma unroll
  for (int i = 0; i < Radius; ++i)
    ahead[i] = now[at + (Radius + 1 + i) * plane];
  at += Radius * plane;
  for (int z = Radius; z < nz - Radius; ++z) {
    float sum = k.c[0] * current;
#pragma unroll
    for (int r = 1; r <= Radius; ++r) {
      sum += k.c[r] * (behind[r - 1] + ahead[r - 1]);
      sum += k.c[r] * (now[at - r] + now[at + r]);
      sum += k.c[r] * (now[at - r * nx] + now[at + r * nx]);
    }
    next[at] = 2.0f * current - before[at] + velocity[at] * sum;
#pragma unroll
    for (int i = Radius - 1; i > 0; --i)
      behind[i] = behind[i - 1];
    behind[0] = current;
    current = ahead[0];
#pragma unroll
    for (int i = 0; i < Radius - 1; ++i)
      ahead[i] = ahead[i + 1];
    if (z + 1 < nz - Radius)
      ahead[Radius - 1] = now[at + (Radius + 1) * plane];
    at += plane;
  }
}

int main() {
  const int nx = 512 + 2 * Radius, ny = 512 + 2 * Radius, nz = 256 + 2 * Radius;
  const size_t n = size_t(nx) * ny * nz;
  float *now = floats(n, 1, -1, 1), *before = floats(n, 2, -1, 1), *velocity = floats(n, 3, 0.1f, 0.4f), *next = floats(n, 4);
  const Coefficients k = {{-2.847222f, 1.6f, -0.2f, 0.025396f, -0.001785f}};
  const dim3 block(BlockX, BlockY), grid(512 / BlockX, 512 / BlockY);
  report("fdtd3d", next, sizeof(float) * n, [&] { fdtd<<<grid, block>>>(now, before, velocity, next, nx, ny, nz, k); });
}
