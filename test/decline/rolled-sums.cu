// Loops that may be unrolled in one text and not in the other: what a sum is fused with hangs
// on it where a product lasts beyond its round, is the same in all rounds or in another one.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=off --list --cuda-path=%cuda 2>&1 \
// RUN:   | FileCheck %s
// RUN: rcache-check diff --device-code=nvcc %s %t.cu
//
// CHECK-DAG: declined kept; fusion-unsettled
// CHECK-DAG: declined byTwo; fusion-unsettled
// CHECK-DAG: declined carried; fusion-unsettled
// CHECK-DAG: declined series; fusion-unsettled
// CHECK-DAG: declined called; fusion-unsettled
// CHECK-DAG: declined unknown; fusion-unsettled
// CHECK-DAG: declined invariant; fusion-unsettled
// CHECK-DAG: declined mirrored; fusion-unsettled
// CHECK-DAG: declined twins; fusion-unsettled
// CHECK-DAG: declined many; fusion-unsettled
// CHECK-DAG: declined nested; fusion-unsettled
// CHECK-DAG: declined byName; fusion-unsettled
// CHECK-DAG: declined parts; fusion-unsettled
// CHECK-DAG: declined members; fusion-unsettled
// CHECK-DAG: rewritten few
// CHECK-DAG: rewritten whole
// CHECK-DAG: rewritten own
// CHECK-DAG: rewritten horner
#include <cstdio>

#define B 256
#define KERNEL(name, loop, result)                                                          \
  __global__ void name(const float *__restrict__ a, float *__restrict__ o, int n, float v,  \
                       int m) {                                                             \
    __shared__ float s[B + 128];                                                            \
    const int t = threadIdx.x, g = blockIdx.x * B + t;                                      \
    s[t] = a[g];                                                                            \
    if (t < 128)                                                                            \
      s[B + t] = a[g + B];                                                                  \
    __syncthreads();                                                                        \
    float x = 3, y = v;                                                                     \
    loop if (g < n) o[g] = result;                                                          \
  }
__device__ float times(float x, float y) { return x * y; }
#define ROLLED _Pragma("unroll 1")
// A product that lasts: in all rounds a use, or in the last one alone.
KERNEL(kept, ROLLED for (int k = 0; k <= 3; ++k) { float u = s[t + k] * s[t + k]; x += u; y = u; }, x * y)
KERNEL(byTwo, _Pragma("unroll 2") for (int k = 0; k <= 9; ++k) { float u = s[t + k] * s[t]; x += u; y = u; }, x * y)
KERNEL(carried, ROLLED for (int k = 0; k <= 9; ++k) { x = fmaxf(x, y); y = s[t + k] * s[t]; x += y; }, x)
KERNEL(series, for (int k = 0; k < 40; ++k) { y *= s[t + k]; x += y; }, x)
KERNEL(called, ROLLED for (int k = 0; k <= 9; ++k) { y = times(s[t + k], s[t]); x += y; }, x * y)
KERNEL(unknown, for (int k = 0; k < m; ++k) { y = s[t + k] * s[t]; x += y; }, x * y)
// The same in all rounds.
KERNEL(invariant, ROLLED for (int k = 0; k <= 9; ++k) { x += s[t] * s[t + 1]; y = fmaxf(y, s[t + k]); }, x + y)
// The same in two of them.
KERNEL(mirrored, ROLLED for (int k = 0; k <= 8; ++k) { x += s[t + k] * s[t + 8 - k]; y = fmaxf(y, s[t + k] * s[t + 8]); }, x * y)
KERNEL(twins, ROLLED for (int k = 0; k <= 8; ++k) { x += s[t + k] * s[t]; y = fmaxf(y, s[t + 8 - k] * s[t]); }, x * y)
KERNEL(many, for (int k = 0; k <= 60; ++k) { x += s[t + k] * s[t + 60 - k]; y = fmaxf(y, s[t + k] * s[t + 60]); }, x * y)
KERNEL(nested, for (int k = 0; k <= 12; ++k) for (int j = 0; j <= 12; ++j) { x += s[t + k] * s[t + j]; y = fmaxf(y, s[t + k] * s[t + 12]); }, x * y)
// The same as one behind the loop and behind a condition, by the name of an element.
KERNEL(byName, float z = s[t + 2]; for (int k = 0; k <= 4; ++k) { x += s[t + k] * s[t + k]; }, x - z * z)
// Two that rounds share, in an aggregate.
KERNEL(parts, _Pragma("unroll") for (int k = 0; k <= 8; ++k) { float u[2]; u[0] = s[t + k] * v; u[1] = s[t + 8 - k] * v; y += u[0] - u[1]; }, y)
KERNEL(members, _Pragma("unroll") for (int k = 0; k <= 8; ++k) { float2 u; u.x = s[t + k] * v; u.y = s[t + 8 - k] * v; y += u.x - u.y; }, y)
// Unrolled in both.
KERNEL(few, for (int k = 0; k <= 3; ++k) { float u = s[t + k] * s[t + 4]; x += u; }, x * y)
KERNEL(whole, _Pragma("unroll") for (int k = 0; k < 40; ++k) { float u = s[t + k] * s[t + 41]; x += u; }, x * y)
// Whether or not.
KERNEL(own, for (int k = 0; k < 60; ++k) x += s[t + k] * s[t + 60];, x * y)
KERNEL(horner, for (int k = 0; k < 40; ++k) x = x * v + s[t + k];, x)

int main() {
  const int n = 3001;
  float *a, *o, *h = new float[n + 2 * B];
  for (int i = 0; i < n + 2 * B; ++i)
    h[i] = 0.7f + float(i * 37 % 101) / 173;
  cudaMalloc(&a, (n + 2 * B) * sizeof(float));
  cudaMalloc(&o, (n + 2 * B) * sizeof(float));
  cudaMemcpy(a, h, (n + 2 * B) * sizeof(float), cudaMemcpyHostToDevice);
#define RUN(name) name<<<(n + B - 1) / B, B>>>(a, o, n, 0.3f, n % 13);
  RUN(kept) RUN(byTwo) RUN(carried) RUN(series) RUN(called) RUN(unknown) RUN(invariant)
  RUN(mirrored) RUN(twins) RUN(many) RUN(nested) RUN(byName)
  RUN(parts) RUN(members) RUN(few) RUN(whole) RUN(own) RUN(horner)
}
