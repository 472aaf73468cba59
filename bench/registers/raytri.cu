// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rays against all triangles of a small scene: the nearest hit, with the normal and
// the barycentric coordinates, two rays a thread.
#include "timing.h"

constexpr int Block = 192;

struct Vec {
  float x, y, z;
};
__device__ Vec sub(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ Vec cross(Vec a, Vec b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

struct Hit {
  float t, u, v;
  int id;
};

__device__ void meet(Vec o, Vec d, Vec a, Vec e1, Vec e2, int id, Hit &hit) {
  const Vec p = cross(d, e2);
  const float det = dot(e1, p);
  if (fabsf(det) < 1e-7f)
    return;
  const float inv = 1.0f / det;
  const Vec s = sub(o, a);
  const float u = dot(s, p) * inv;
  const Vec q = cross(s, e1);
  const float v = dot(d, q) * inv, t = dot(e2, q) * inv;
  if (u >= 0.0f && v >= 0.0f && u + v <= 1.0f && t > 1e-4f && t < hit.t)
    hit = {t, u, v, id};
}

__global__ void trace(const float4 *__restrict__ triangles, const float *__restrict__ rays, float *__restrict__ out,
                      int count, int n) {
  const int i = blockIdx.x * Block + threadIdx.x, half = n / 2;
  if (i >= half)
    return;
  const int j = i + half;
  const Vec o1 = {rays[i], rays[n + i], rays[2 * n + i]}, d1 = {rays[3 * n + i], rays[4 * n + i], rays[5 * n + i]};
  const Vec o2 = {rays[j], rays[n + j], rays[2 * n + j]}, d2 = {rays[3 * n + j], rays[4 * n + j], rays[5 * n + j]};
  Hit h1 = {1e30f, 0, 0, -1}, h2 = {1e30f, 0, 0, -1};
  for (int k = 0; k < count; ++k) {
    const float4 x = triangles[3 * k], y = triangles[3 * k + 1], z = triangles[3 * k + 2];
    const Vec a = {x.x, x.y, x.z}, e1 = {y.x, y.y, y.z}, e2 = {z.x, z.y, z.z};
    meet(o1, d1, a, e1, e2, k, h1);
    meet(o2, d2, a, e1, e2, k, h2);
  }
  out[i] = h1.t + h1.u * 3.0f + h1.v * 7.0f + h1.id;
  out[j] = h2.t + h2.u * 3.0f + h2.v * 7.0f + h2.id;
}

int main() {
  const int n = 1 << 19, count = 512;
  float4 *triangles = (float4 *)floats(count * 12, 1, -1, 1);
  float *rays = floats(size_t(n) * 6, 2, -1, 1), *out = floats(n, 3);
  report("raytri", out, sizeof(float) * n,
         [&] { trace<<<(n / 2 + Block - 1) / Block, Block>>>(triangles, rays, out, count, n); });
}
