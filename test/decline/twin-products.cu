// Products that are one by another name, in another function or in another round, of which a
// condition decides about one; sums that compilers move behind a loop or choose the sign of;
// and products that come in parts of aggregates.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=off --list --cuda-path=%cuda 2>&1 \
// RUN:   | FileCheck %s
// RUN: rcache-check diff --device-code=nvcc %s %t.cu
//
// CHECK-DAG: declined byVariable; fusion-unsettled
// CHECK-DAG: declined byReference; fusion-unsettled
// CHECK-DAG: declined byMember; fusion-unsettled
// CHECK-DAG: declined byPointer; fusion-unsettled
// CHECK-DAG: declined bySign; fusion-unsettled
// CHECK-DAG: declined computed; fusion-unsettled
// CHECK-DAG: declined natural; fusion-unsettled
// CHECK-DAG: declined early; fusion-unsettled
// CHECK-DAG: declined handedOut; fusion-unsettled
// CHECK-DAG: declined returned; fusion-unsettled
// CHECK-DAG: declined inCall; fusion-unsettled
// CHECK-DAG: declined added;
// CHECK-DAG: declined turned; fusion-unsettled
// CHECK-DAG: declined sunk; fusion-unsettled
// CHECK-DAG: declined sunkCopy; fusion-unsettled
// CHECK-DAG: declined elements; fusion-unsettled
// CHECK-DAG: declined members; fusion-unsettled
// CHECK-DAG: declined before; fusion-unsettled
// CHECK-DAG: declined results; fusion-unsettled
// CHECK-DAG: rewritten others
// CHECK-DAG: rewritten named
// CHECK-DAG: rewritten within
#include <cstdio>

#define B 256
#define KERNEL(name, ...)                                                                   \
  __global__ void name(const float *__restrict__ a, float *__restrict__ o, int n, float v,  \
                       int m) {                                                             \
    __shared__ float s[B + 8];                                                              \
    const int t = threadIdx.x, g = blockIdx.x * B + t;                                      \
    s[t] = a[g];                                                                            \
    if (t < 8)                                                                              \
      s[B + t] = a[g + B];                                                                  \
    __syncthreads();                                                                        \
    float x = s[t], y = v;                                                                  \
    __VA_ARGS__                                                                             \
  }
struct Pair {
  float v, w;
};
__device__ void times(float a, float b, float &r) { r = a * b; }
__device__ float times(float a, float b) { return a * b; }
__device__ void add(float &x, float a, float b) { x += a * b; }
__device__ Pair both(float a, float b) {
  Pair r;
  r.v = a * b;
  r.w = a;
  return r;
}
#define ROUNDS for (int k = 0; k <= 4; ++k) x += s[t + k] * s[t + k];
KERNEL(byVariable, ROUNDS y = s[t + 2]; if (g < n) o[g] = x - y * y;)
KERNEL(byReference, ROUNDS const float &z = s[t + 2]; if (g < n) o[g] = x - z * z;)
KERNEL(byMember, ROUNDS float2 z; z.x = s[t + 2]; if (g < n) o[g] = x - z.x * z.x;)
KERNEL(byPointer, ROUNDS const float *r = s + t; if (g < n) o[g] = x - r[2] * r[2];)
KERNEL(bySign, ROUNDS y = -s[t + 2]; if (g < n) o[g] = x - y * y;)
KERNEL(computed, for (int k = 0; k <= 8; ++k) { const float d = s[t + k] - s[t + 4]; x += d * d; } if (g < n) o[g] = x - (s[t + 5] - s[t + 4]) * (s[t + 5] - s[t + 4]);)
KERNEL(natural, float w = 0; for (int k = 0; k < 5; ++k) { float z = s[t + k]; x += z * z; w += z; } float c = s[t + 2]; if (g < n) o[g] = w + x - c * c;)
KERNEL(early, ROUNDS y = s[t + 2]; if (g >= n) return; o[g] = x - y * y;)
KERNEL(handedOut, float u; times(s[t + 2], s[t + 3], u); x += u; if (m > 2) x -= u; o[g] = x;)
KERNEL(returned, Pair u = both(s[t + 2], s[t + 3]); for (int k = 0; k < 4; ++k) x += s[t + k] * v; if (g < n) o[g] = x - u.v;)
KERNEL(inCall, for (int k = 0; k < 4; ++k) x = fmaxf(x, s[t + k]) + s[t + 2] * s[t + k]; if (g < n) o[g] = x - times(s[t + 2], s[t + 3]);)
KERNEL(added, if (t & 1) add(x, s[t + 3], s[t + 3]); if (g < n) o[g] = x - s[t + 3] * s[t + 3];)
KERNEL(turned, if (m > 2) x = -x; x += s[t + 2] * s[t + 3]; o[g] = x;)
KERNEL(sunk, y += s[t + 1] * s[t + 4]; _Pragma("unroll 1") for (int k = 0; k <= 6; ++k) x += s[t + k] * v; o[g] = x * y;)
KERNEL(sunkCopy, float z = y + s[t + 1] * s[t + 4]; y = z; _Pragma("unroll 1") for (int k = 0; k <= 6; ++k) x += s[t + k] * v; o[g] = x * y;)
KERNEL(elements, for (int k = 0; k <= 2; ++k) { float u[2] = {s[t + k] * v, s[t + 8 - k] * v}; y += u[0] - u[1]; } o[g] = y;)
KERNEL(members, for (int k = 0; k <= 8; ++k) { float2 u = make_float2(s[t + k] * v, s[t + 8 - k] * v); y += u.x - u.y; } o[g] = y;)
KERNEL(before, Pair z = {0, 0}; for (int k = 0; k <= 8; ++k) { Pair u = both(s[t + k], s[t + 4]); y += u.v - z.v; z = u; } if (g < n) o[g] = y;)
KERNEL(results, o[g] = both(s[t + 1], v).v - both(s[t], v).v;)
// Elements that are others for sure, an argument as a factor, one condition for both.
KERNEL(others, x = s[t] + s[t + 2] * s[t + 3]; o[g] = x; if (g < n) o[g] = x + s[t + 4] * s[t + 5];)
KERNEL(named, for (int k = 0; k <= 4; ++k) x += s[t + k] * v; y = s[t + 2]; if (g < n) o[g] = x - y * v;)
KERNEL(within, if (g < n) { ROUNDS y = s[t + 2]; o[g] = x - y; })

int main() {
  const int n = 1001;
  float *a, *o, *h = new float[n + 2 * B];
  for (int i = 0; i < n + 2 * B; ++i)
    h[i] = 0.7f + float(i * 37 % 101) / 173;
  cudaMalloc(&a, (n + 2 * B) * sizeof(float));
  cudaMalloc(&o, (n + 2 * B) * sizeof(float));
  cudaMemcpy(a, h, (n + 2 * B) * sizeof(float), cudaMemcpyHostToDevice);
#define RUN(name) name<<<(n + B - 1) / B, B>>>(a, o, n, 0.3f, 3);
  RUN(byVariable) RUN(byReference) RUN(byMember) RUN(byPointer) RUN(bySign) RUN(computed)
  RUN(natural) RUN(early) RUN(handedOut) RUN(returned) RUN(inCall) RUN(added) RUN(turned)
  RUN(sunk) RUN(sunkCopy) RUN(elements) RUN(members) RUN(before) RUN(results) RUN(others) RUN(named)
  RUN(within)
}
