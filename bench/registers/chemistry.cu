// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source term of a combustion model: Arrhenius rates of reversible reactions among
// sixteen species in each cell, and the species' production rates.
#include "timing.h"

constexpr int Block = 128, Species = 16;

__device__ double rate(double a, double b, double ta, double logT, double invT) {
  return a * exp(b * logT - ta * invT);
}

__global__ void sourceTerm(const double *__restrict__ temperature, const double *__restrict__ conc,
                           double *__restrict__ wdot, int cells) {
  const int i = blockIdx.x * Block + threadIdx.x;
  if (i >= cells)
    return;
  const double t = temperature[i];
  const double lt = log(t), it = 1.0 / t;
  double c[Species], w[Species];
#pragma unroll
  for (int s = 0; s < Species; ++s) {
    c[s] = conc[s * cells + i];
    w[s] = 0.0;
  }
  const double third = c[0] + 2.5 * c[1] + c[2] + 12.0 * c[3] + c[4] + 0.8 * c[5];
#pragma unroll
  for (int r = 0; r < 24; ++r) {
    const int a = r % Species, b = (r * 5 + 3) % Species, p = (r * 7 + 1) % Species, q = (r * 3 + 2) % Species;
    const double kf = rate(1.0e3 + 37.0 * r, 0.1 * (r % 7), 900.0 + 55.0 * r, lt, it);
    const double kr = rate(4.0e2 + 11.0 * r, 0.05 * (r % 5), 1400.0 + 35.0 * r, lt, it);
    double net = kf * c[a] * c[b] - kr * c[p] * c[q];
    if (r % 6 == 5)
      net *= third;
    w[a] -= net;
    w[b] -= net;
    w[p] += net;
    w[q] += net;
  }
#pragma unroll
  for (int s = 0; s < Species; ++s)
    wdot[s * cells + i] = w[s] * (2.0 + s);
}

int main() {
  const int cells = 1 << 19;
  double *t = doubles(cells, 1, 800, 2400), *c = doubles(size_t(cells) * Species, 2, 0, 1),
         *w = doubles(size_t(cells) * Species, 3);
  report("chemistry", w, sizeof(double) * cells * Species,
         [&] { sourceTerm<<<(cells + Block - 1) / Block, Block>>>(t, c, w, cells); });
}
