// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lattice Boltzmann, D3Q19, two relaxation times: pull, collide, store.
#include "timing.h"

constexpr int Block = 256;

__global__ void collide(const double *__restrict__ f, double *__restrict__ g, int nx, int ny, int nz, double plus,
                        double minus) {
  const int i = blockIdx.x * Block + threadIdx.x;
  const int n = nx * ny * nz;
  if (i >= n)
    return;
  const int x = i % nx, y = i / nx % ny, z = i / (nx * ny);
  const int xm = x ? x - 1 : nx - 1, xp = x < nx - 1 ? x + 1 : 0;
  const int ym = y ? y - 1 : ny - 1, yp = y < ny - 1 ? y + 1 : 0;
  const int zm = z ? z - 1 : nz - 1, zp = z < nz - 1 ? z + 1 : 0;
  const double f0 = f[i];
  const double e = f[1 * n + (z * ny + y) * nx + xm], w = f[2 * n + (z * ny + y) * nx + xp];
  const double no = f[3 * n + (z * ny + ym) * nx + x], s = f[4 * n + (z * ny + yp) * nx + x];
  const double t = f[5 * n + (zm * ny + y) * nx + x], b = f[6 * n + (zp * ny + y) * nx + x];
  const double ne = f[7 * n + (z * ny + ym) * nx + xm], sw = f[8 * n + (z * ny + yp) * nx + xp];
  const double se = f[9 * n + (z * ny + yp) * nx + xm], nw = f[10 * n + (z * ny + ym) * nx + xp];
  const double te = f[11 * n + (zm * ny + y) * nx + xm], bw = f[12 * n + (zp * ny + y) * nx + xp];
  const double be = f[13 * n + (zp * ny + y) * nx + xm], tw = f[14 * n + (zm * ny + y) * nx + xp];
  const double tn = f[15 * n + (zm * ny + ym) * nx + x], bs = f[16 * n + (zp * ny + yp) * nx + x];
  const double bn = f[17 * n + (zp * ny + ym) * nx + x], ts = f[18 * n + (zm * ny + yp) * nx + x];
  const double rho = f0 + e + w + no + s + t + b + ne + sw + se + nw + te + bw + be + tw + tn + bs + bn + ts;
  const double inv = 1.0 / rho;
  const double u = (e - w + ne - sw + se - nw + te - bw + be - tw) * inv;
  const double v = (no - s + ne - sw + nw - se + tn - bs + bn - ts) * inv;
  const double q = (t - b + te - bw + tw - be + tn - bs + ts - bn) * inv;
  const double square = 1.0 - 1.5 * (u * u + v * v + q * q);
  auto pair = [&](double a, double c, double weight, double speed, int da, int dc) {
    const double even = weight * rho * (square + 4.5 * speed * speed), odd = weight * rho * 3.0 * speed;
    const double sum = plus * (0.5 * (a + c) - even), difference = minus * (0.5 * (a - c) - odd);
    g[da * n + i] = a - sum - difference;
    g[dc * n + i] = c - sum + difference;
  };
  g[i] = f0 - plus * (f0 - rho / 3.0 * square);
  pair(e, w, 1.0 / 18, u, 1, 2);
  pair(no, s, 1.0 / 18, v, 3, 4);
  pair(t, b, 1.0 / 18, q, 5, 6);
  pair(ne, sw, 1.0 / 36, u + v, 7, 8);
  pair(se, nw, 1.0 / 36, u - v, 9, 10);
  pair(te, bw, 1.0 / 36, u + q, 11, 12);
  pair(be, tw, 1.0 / 36, u - q, 13, 14);
  pair(tn, bs, 1.0 / 36, v + q, 15, 16);
  pair(bn, ts, 1.0 / 36, v - q, 17, 18);
}

int main() {
  const int nx = 192, ny = 192, nz = 128, n = nx * ny * nz;
  double *f = doubles(size_t(n) * 19, 1, 0.02, 0.06), *g = doubles(size_t(n) * 19, 2);
  report("lbm", g, sizeof(double) * n * 19,
         [&] { collide<<<(n + Block - 1) / Block, Block>>>(f, g, nx, ny, nz, 0.8, 1.1); });
}
