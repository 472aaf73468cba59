// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gravity of all bodies on four bodies a thread, in double precision.
#include "timing.h"

constexpr int Block = 128, Own = 4;

__global__ void gravity(const double4 *__restrict__ bodies, double *__restrict__ acc, int n, double soft) {
  const int first = blockIdx.x * Block + threadIdx.x, stride = gridDim.x * Block;
  double x[Own], y[Own], z[Own], ax[Own], ay[Own], az[Own];
#pragma unroll
  for (int o = 0; o < Own; ++o) {
    const double4 b = bodies[first + o * stride];
    x[o] = b.x;
    y[o] = b.y;
    z[o] = b.z;
    ax[o] = ay[o] = az[o] = 0.0;
  }
#pragma unroll 2
  for (int j = 0; j < n; ++j) {
    const double4 b = bodies[j];
#pragma unroll
    for (int o = 0; o < Own; ++o) {
      const double dx = b.x - x[o], dy = b.y - y[o], dz = b.z - z[o];
      const double r2 = dx * dx + dy * dy + dz * dz + soft;
      const double inv = rsqrt(r2);
      const double s = b.w * inv * inv * inv;
      ax[o] += dx * s;
      ay[o] += dy * s;
      az[o] += dz * s;
    }
  }
#pragma unroll
  for (int o = 0; o < Own; ++o) {
    acc[3 * (first + o * stride)] = ax[o];
    acc[3 * (first + o * stride) + 1] = ay[o];
    acc[3 * (first + o * stride) + 2] = az[o];
  }
}

int main() {
  const int blocks = 132 * 4, n = blocks * Block * Own, others = 1024;
  double4 *bodies = (double4 *)doubles(size_t(n) * 4, 1, -1, 1);
  double *acc = doubles(size_t(n) * 3, 2);
  report("nbody", acc, sizeof(double) * n * 3, [&] { gravity<<<blocks, Block>>>(bodies, acc, others, 0.01); });
}
