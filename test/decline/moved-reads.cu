// Two products in a sum: which one is fused hangs on the order in which their values are
// read. Those that are read in front of a condition, and of use behind it alone, compilers
// read there, in an order of their own. And ptxas fuses a difference only where no slow
// path, of a division or a root, stands between it and its product.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=off --list --cuda-path=%cuda 2>&1 \
// RUN:   | FileCheck %s
// RUN: rcache-check diff --device-code=nvcc %s %t.cu
//
// CHECK-DAG: declined ahead; fusion-unsettled
// CHECK-DAG: declined squares; fusion-unsettled
// CHECK-DAG: declined chosen; fusion-unsettled
// CHECK-DAG: rewritten behind
// CHECK-DAG: rewritten summed
// CHECK-DAG: rewritten single
// CHECK-DAG: declined variance; fusion-unsettled
// CHECK-DAG: declined root; fusion-unsettled
// CHECK-DAG: declined named; fusion-unsettled
// CHECK-DAG: rewritten beside
// CHECK-DAG: rewritten scaled
#include <cstdio>

#define B 64
#define STAGE                                                                  \
  __shared__ float s[B + 2];                                                   \
  const int t = threadIdx.x, g = blockIdx.x * B + t;                           \
  s[t] = g < n ? a[g] : 1.f;                                                   \
  if (t < 2)                                                                   \
    s[t + B] = g + B < n ? a[g + B] : 1.f;                                     \
  __syncthreads();
#define KERNEL(name)                                                           \
  __global__ void name(const float *__restrict__ a, float *__restrict__ o,     \
                       int n, float v, float w)

KERNEL(ahead) {
  STAGE
  float l = s[t], c = s[t + 1], r = s[t + 2];
  if (g < n)
    o[g] = l * c + r * c;
}
KERNEL(squares) {
  STAGE
  float dx = s[t + 2] - s[t], dy = s[t + 1] - s[t];
  if (g >= n)
    return;
  o[g] = dx * dx + dy * dy;
}
KERNEL(global) {
  STAGE
  float x = a[g < n ? g : 0], l = s[t];
  if (g < n)
    o[g] = x * v + l * w;
}
KERNEL(chosen) {
  STAGE
  float l = s[t], r = s[t + 2];
  o[g < n ? g : n] = g < n ? l * v + r * w : 0.f;
}
KERNEL(behind) {
  STAGE
  if (g < n) {
    float l = s[t], c = s[t + 1], r = s[t + 2];
    o[g] = l * c + r * c;
  }
}
KERNEL(summed) {
  STAGE
  float l = s[t], c = s[t + 1], r = s[t + 2], x = l * c + r * c;
  if (g < n)
    o[g] = x;
}
KERNEL(single) {
  STAGE
  float l = s[t], c = s[t + 1], r = s[t + 2];
  if (g < n)
    o[g] = l * c + r;
}
KERNEL(variance) {
  STAGE
  if (g < n)
    o[g] = s[t] / w - s[t + 1] / w * (s[t + 1] / w);
}
KERNEL(root) {
  STAGE
  if (g < n)
    o[g] = sqrtf(s[t]) - s[t + 2] * s[t + 2];
}
KERNEL(named) {
  STAGE
  if (g < n) {
    float square = s[t + 2] * s[t + 2], q = s[t] / s[t + 1];
    o[g] = q - square;
  }
}
KERNEL(beside) {
  STAGE
  if (g < n)
    o[g] = (s[t] - s[t + 2] * s[t + 2]) * sqrtf(s[t + 1]);
}
KERNEL(scaled) {
  STAGE
  if (g < n)
    o[g] = s[t] / w - 0.3f * s[t + 2];
}

int main() {
  const int n = 333;
  float h[n], r[n], *a, *o;
  for (int i = 0; i < n; ++i)
    h[i] = (i * 7919 % 1009) / 77.3f + 1.1f;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&o, sizeof r + sizeof *o); // one for those that have none
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemset(o, 0, sizeof r + sizeof *o);
#define RUN(k)                                                                 \
  k<<<(n + B - 1) / B, B>>>(a, o, n, 1.37f, .77f);                             \
  cudaMemcpy(r, o, sizeof r, cudaMemcpyDeviceToHost);                          \
  {                                                                            \
    double x = 0;                                                              \
    for (float f : r)                                                          \
      x = x * 1.01 + f;                                                        \
    std::printf("%s %a\n", #k, x);                                             \
  }
  RUN(ahead) RUN(squares) RUN(global) RUN(chosen) RUN(behind) RUN(summed)
  RUN(single) RUN(variance) RUN(root) RUN(named) RUN(beside) RUN(scaled)
}
