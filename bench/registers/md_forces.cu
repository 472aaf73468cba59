// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forces of a molecular-dynamics step: Lennard-Jones and a screened Coulomb term
// over the neighbour list of each atom, with energy and virial.
#include "timing.h"

constexpr int Block = 256;

struct Params {
  double cutoff2, kappa, box;
};

__device__ double wrap(double d, double box) {
  return d - box * rint(d / box);
}

__global__ void forces(const double *__restrict__ x, const double *__restrict__ y, const double *__restrict__ z,
                       const double *__restrict__ charge, const double *__restrict__ sigma,
                       const double *__restrict__ epsilon, const unsigned *__restrict__ list, double *fx, double *fy,
                       double *fz, double *energy, double *virial, int atoms, int neighbours, Params p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= atoms)
    return;
  const double xi = x[i], yi = y[i], zi = z[i];
  const double qi = charge[i], si = sigma[i], ei = epsilon[i];
  double ax = 0, ay = 0, az = 0, e = 0, vxx = 0, vyy = 0, vzz = 0, vxy = 0, vxz = 0, vyz = 0;
  for (int n = 0; n < neighbours; ++n) {
    const int j = list[n * atoms + i];
    const double dx = wrap(xi - x[j], p.box), dy = wrap(yi - y[j], p.box), dz = wrap(zi - z[j], p.box);
    const double r2 = dx * dx + dy * dy + dz * dz + 1e-3;
    if (r2 < p.cutoff2) {
      const double s = 0.5 * (si + sigma[j]);
      const double eps = sqrt(ei * epsilon[j]);
      const double ir2 = 1.0 / r2;
      const double s2 = s * s * ir2, s6 = s2 * s2 * s2;
      const double r = sqrt(r2);
      const double screen = exp(-p.kappa * r);
      const double coulomb = qi * charge[j] * screen / r;
      const double force = (48.0 * eps * s6 * (s6 - 0.5) + coulomb * (1.0 + p.kappa * r)) * ir2;
      e += 4.0 * eps * s6 * (s6 - 1.0) + coulomb;
      ax += force * dx;
      ay += force * dy;
      az += force * dz;
      vxx += force * dx * dx;
      vyy += force * dy * dy;
      vzz += force * dz * dz;
      vxy += force * dx * dy;
      vxz += force * dx * dz;
      vyz += force * dy * dz;
    }
  }
  fx[i] = ax;
  fy[i] = ay;
  fz[i] = az;
  energy[i] = 0.5 * e;
  virial[i] = vxx;
  virial[atoms + i] = vyy;
  virial[2 * atoms + i] = vzz;
  virial[3 * atoms + i] = vxy;
  virial[4 * atoms + i] = vxz;
  virial[5 * atoms + i] = vyz;
}

int main() {
  const int atoms = 1 << 18, neighbours = 48;
  double *x = doubles(atoms, 1, 0, 40), *y = doubles(atoms, 2, 0, 40), *z = doubles(atoms, 3, 0, 40);
  double *q = doubles(atoms, 4, -1, 1), *s = doubles(atoms, 5, 0.8, 1.2), *e = doubles(atoms, 6, 0.5, 1.5);
  unsigned *list = ints(size_t(atoms) * neighbours, 7, atoms);
  double *out = doubles(size_t(atoms) * 10, 8);
  const Params p = {200.0, 0.3, 40.0};
  report("md_forces", out, sizeof(double) * atoms * 10, [&] {
    forces<<<(atoms + Block - 1) / Block, Block>>>(x, y, z, q, s, e, list, out, out + atoms, out + 2 * atoms,
                                                   out + 3 * atoms, out + 4 * atoms, atoms, neighbours, p);
  });
}
