// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fluxes of the compressible Euler equations over the faces of unstructured cells.
#include "timing.h"

constexpr int Block = 192, Faces = 6;
constexpr float Gamma = 1.4f;

struct State {
  float rho, mx, my, mz, e;
};

__device__ float pressure(const State &s, float u2) { return (Gamma - 1.0f) * (s.e - 0.5f * s.rho * u2); }

__device__ State load(const float *__restrict__ v, int i, int n) {
  return {v[i], v[n + i], v[2 * n + i], v[3 * n + i], v[4 * n + i]};
}

__global__ void flux(const unsigned *__restrict__ neighbours, const float *__restrict__ normals,
                     const float *__restrict__ v, float *__restrict__ out, int n) {
  const int i = blockIdx.x * Block + threadIdx.x;
  if (i >= n)
    return;
  const State s = load(v, i, n);
  const float is = 1.0f / s.rho, ux = s.mx * is, uy = s.my * is, uz = s.mz * is;
  const float us = ux * ux + uy * uy + uz * uz, ps = pressure(s, us), cs = sqrtf(Gamma * fabsf(ps) * is);
  float r = 0, rx = 0, ry = 0, rz = 0, re = 0;
#pragma unroll
  for (int f = 0; f < Faces; ++f) {
    const int j = neighbours[f * n + i];
    const float nx = normals[(3 * f) * n + i], ny = normals[(3 * f + 1) * n + i], nz = normals[(3 * f + 2) * n + i];
    const float area = sqrtf(nx * nx + ny * ny + nz * nz);
    const State o = load(v, j, n);
    const float io = 1.0f / o.rho, vx = o.mx * io, vy = o.my * io, vz = o.mz * io;
    const float uo = vx * vx + vy * vy + vz * vz, po = pressure(o, uo), co = sqrtf(Gamma * fabsf(po) * io);
    const float k = -area * 0.2f * 0.5f * (sqrtf(us) + sqrtf(uo) + cs + co);
    r += k * (s.rho - o.rho);
    rx += k * (s.mx - o.mx);
    ry += k * (s.my - o.my);
    rz += k * (s.mz - o.mz);
    re += k * (s.e - o.e);
    const float hx = 0.5f * nx, hy = 0.5f * ny, hz = 0.5f * nz;
    r += hx * (s.mx + o.mx) + hy * (s.my + o.my) + hz * (s.mz + o.mz);
    re += hx * ((s.e + ps) * ux + (o.e + po) * vx) + hy * ((s.e + ps) * uy + (o.e + po) * vy) +
          hz * ((s.e + ps) * uz + (o.e + po) * vz);
    rx += hx * (s.mx * ux + ps + o.mx * vx + po) + hy * (s.mx * uy + o.mx * vy) + hz * (s.mx * uz + o.mx * vz);
    ry += hx * (s.my * ux + o.my * vx) + hy * (s.my * uy + ps + o.my * vy + po) + hz * (s.my * uz + o.my * vz);
    rz += hx * (s.mz * ux + o.mz * vx) + hy * (s.mz * uy + o.mz * vy) + hz * (s.mz * uz + ps + o.mz * vz + po);
  }
  out[i] = r;
  out[n + i] = rx;
  out[2 * n + i] = ry;
  out[3 * n + i] = rz;
  out[4 * n + i] = re;
}

int main() {
  const int n = 1 << 20;
  unsigned *neighbours = ints(size_t(n) * Faces, 1, n);
  float *normals = floats(size_t(n) * Faces * 3, 2, -1, 1), *v = floats(size_t(n) * 5, 3, 0.5f, 1.5f),
        *out = floats(size_t(n) * 5, 4);
  report("euler3d", out, sizeof(float) * n * 5,
         [&] { flux<<<(n + Block - 1) / Block, Block>>>(neighbours, normals, v, out, n); });
}
