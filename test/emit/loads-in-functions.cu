// Functions of the program that load an element and multiply nothing: no product comes from
// them, so that sums of what they give are fused with products alike. What stores first, or
// gets a product, is none of them.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --exchange=reload --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff --device-code=nvcc %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'marches' {{.*}}'s' reloaded
// CHECK-DAG: 'stored' left as it is: {{.*}}[fusion-unsettled]
// CHECK-DAG: 'handed' left as it is: {{.*}}[fusion-unsettled]
// SAME: equivalent: {{.*}}; {{[1-9]}}{{.*}} by a rewritten kernel
#include "program.h"

__constant__ float weight[3] = {-2.5f, 1.25f, -0.125f};

__device__ __forceinline__ float at(const float *p, int x, int y, int z, int w, int h) {
  x = x < 0 ? 0 : (x >= w ? w - 1 : x);
  y = min(max(y, 0), h - 1);
  return p[(z * h + y) * w + x];
}
__device__ float storedFirst(float *p, int i, float x, float y) {
  p[i] = x * y;
  return p[i];
}
__device__ float handedOn(const float *p, int i, float x) {
  if (i < 0)
    return x;
  return p[i];
}

// Five points deep, a queue in registers.
__global__ void marches(const float *__restrict__ p, float *__restrict__ q, int w, int h, int d) {
  __shared__ float s[12][36];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int tx = threadIdx.x + 2, ty = threadIdx.y + 2;
  float z[5];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    z[k + 1] = at(p, x, y, k, w, h);
  for (int i = 2; i < d - 2; ++i) {
#pragma unroll
    for (int k = 0; k < 4; ++k)
      z[k] = z[k + 1];
    z[4] = at(p, x, y, i + 2, w, h);
    const float here = z[2];
    __syncthreads();
    s[ty][tx] = here;
    if (threadIdx.y < 2) {
      s[threadIdx.y][tx] = at(p, x, y - 2, i, w, h);
      s[threadIdx.y + 10][tx] = at(p, x, y + 8, i, w, h);
    }
    if (threadIdx.x < 2) {
      s[ty][threadIdx.x] = at(p, x - 2, y, i, w, h);
      s[ty][threadIdx.x + 34] = at(p, x + 32, y, i, w, h);
    }
    __syncthreads();
    float sum = 3.0f * weight[0] * here;
#pragma unroll
    for (int r = 1; r <= 2; ++r)
      sum += weight[r] * (z[2 - r] + z[2 + r] + s[ty - r][tx] + s[ty + r][tx] + s[ty][tx - r] + s[ty][tx + r]);
    if (x < w && y < h)
      q[(i * h + y) * w + x] = sum;
  }
}

__global__ void stored(const float *__restrict__ in, float *own, float *out, int n) {
  __shared__ float s[129];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t == 0)
    s[128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  if (g < n)
    out[g] = storedFirst(own, g, s[t], s[t + 1]) + s[t] * 0.3f;
}

// What calls itself is not followed.
__device__ float mirrored(const float *p, int i) {
  if (i < 0)
    return mirrored(p, -i);
  return p[i];
}
__global__ void recursive(const float *__restrict__ in, float *out, int n) {
  __shared__ float s[129];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t == 0)
    s[128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  if (g < n)
    out[g] = mirrored(in, g - 1) + s[t] * s[t + 1];
}

__global__ void handed(const float *__restrict__ in, float *out, int n) {
  __shared__ float s[129];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t == 0)
    s[128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  if (g < n)
    out[g] = handedOn(in, g - 1, s[t] * s[t + 1]) + s[t] * 0.3f;
}

int main() {
  const int w = 70, h = 19, d = 9, n = 900;
  Buffer<float> p(randoms<float>(w * h * d)), q(w * h * d), in(randoms<float>(n)), own(n), out(n);
  marches<<<dim3(blocks(w, 32), blocks(h, 8)), dim3(32, 8)>>>(p.Data, q.Data, w, h, d);
  q.show("marches", w, h);
  stored<<<blocks(n, 128), 128>>>(in.Data, own.Data, out.Data, n);
  out.show("stored");
  recursive<<<blocks(n, 128), 128>>>(in.Data, out.Data, n);
  out.show("recursive");
  handed<<<blocks(n, 128), 128>>>(in.Data, out.Data, n);
  out.show("handed");
}
