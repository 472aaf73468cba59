// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product of two loaded values that several outputs have in common: nvcc's first
// half leaves it open for more than four outputs, and ptxas fuses it in its own block
// of code only; a square root ends that. Each output has views of its own then, and
// machine code has no more sums outside fused operations than the original's ends.
// Factors that instructions name (parameters, numbers, constant memory), and
// coefficients that tell taps apart, need none.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --coarsen=8 --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu
// RUN: %nvcc -std=c++17 -arch=sm_90 -cubin %t.cu -o %t.cubin
// RUN: %python %S/../../check/device/fusion.py %t.cubin | FileCheck --check-prefix=CODE %s
//
// CHECK-DAG: rewrote 'root'
// CHECK-DAG: rewrote 'neighbours'
// CHECK-DAG: rewrote 'halfway'
// CHECK-DAG: rewrote 'loaded'
// CHECK-DAG: rewrote 'scaled'
// CHECK-DAG: rewrote 'filtered'
//
// TEXT-LABEL: {{^}}static __global__ void root_rc(
// TEXT: apart(
// TEXT-LABEL: {{^}}static __global__ void neighbours_rc(
// TEXT: apart(
// TEXT-LABEL: {{^}}static __global__ void halfway_rc(
// TEXT: apart(
// TEXT-LABEL: {{^}}static __global__ void loaded_rc(
// TEXT: apart(
// TEXT-LABEL: {{^}}static __global__ void scaled_rc(
// TEXT-NOT: s_w_of[
// TEXT-LABEL: {{^}}static __global__ void filtered_rc(
// TEXT-NOT: s_w_of[
//
// CODE-NOT: {{_rc.*FADD:[0-9][0-9]}}
//
#include <cstdio>
#include <vector>
#define B 128
#define R 7
#define STAGE                                                                       \
  __shared__ float s[B + 2 * R];                                                    \
  const int t = threadIdx.x, g = blockIdx.x * B + t;                                \
  s[t + R] = g < n ? in[g] : 0.f;                                                   \
  if (t < R) {                                                                      \
    s[t] = g >= R ? in[g - R] : 0.f;                                                \
    s[t + B + R] = g + B < n ? in[g + B] : 0.f;                                     \
  }                                                                                 \
  __syncthreads();                                                                  \
  if (g >= n) return;                                                               \
  float acc = 0.f;

__global__ void root(const float *__restrict__ in, float *__restrict__ out, int n) {
  STAGE
  for (int k = 0; k <= 2 * R; ++k) acc += s[t + k] * s[t + k];
  out[g] = sqrtf(acc);
}
__global__ void neighbours(const float *__restrict__ in, float *__restrict__ out, int n) {
  STAGE
  for (int k = 0; k < 2 * R; ++k) acc += s[t + k] * s[t + k + 1];
  out[g] = sqrtf(acc);
}
__device__ float square(float x) { return x * x; }
__global__ void halfway(const float *__restrict__ in, float *__restrict__ out, int n) {
  STAGE
  for (int k = 0; k <= 2 * R; ++k) {
    acc += square(s[t + k]);
    if (acc > 4.f) break;
  }
  out[g] = acc;
}
__global__ void loaded(const float *__restrict__ in, float *__restrict__ out, int n) {
  STAGE
  const float w = in[n];
  for (int k = 0; k <= 2 * R; ++k) acc += w * s[t + k];
  out[g] = sqrtf(acc > 0.f ? acc : 0.f);
}
__global__ void scaled(const float *__restrict__ in, float *__restrict__ out, int n, float w) {
  STAGE
  for (int k = 0; k <= 2 * R; ++k) acc += w * s[t + k];
  out[g] = sqrtf(acc > 0.f ? acc : 0.f);
}
__global__ void filtered(const float *__restrict__ in, float *__restrict__ out, int n,
                         const float *__restrict__ f) {
  STAGE
  for (int k = 0; k <= 2 * R; ++k) acc += f[k] * s[t + k];
  out[g] = sqrtf(acc > 0.f ? acc : 0.f);
}
int main() {
  const int n = 3000;
  std::vector<float> h(n + 1), r(n);
  unsigned seed = 1;
  for (float &v : h) {
    seed = seed * 1664525u + 1013904223u;
    v = float(seed >> 9) / (1 << 23);
  }
  float *in, *out;
  cudaMalloc(&in, (n + 1) * 4);
  cudaMalloc(&out, n * 4);
  cudaMemcpy(in, h.data(), (n + 1) * 4, cudaMemcpyHostToDevice);
  auto show = [&](const char *name) {
    cudaMemcpy(r.data(), out, n * 4, cudaMemcpyDeviceToHost);
    unsigned sum = 0;
    for (float v : r) sum = sum * 31 + __builtin_bit_cast(unsigned, v);
    printf("%s %08x\n", name, sum);
  };
  const int grid = (n + B - 1) / B;
  root<<<grid, B>>>(in, out, n); show("root");
  neighbours<<<grid, B>>>(in, out, n); show("neighbours");
  halfway<<<grid, B>>>(in, out, n); show("halfway");
  loaded<<<grid, B>>>(in, out, n); show("loaded");
  scaled<<<grid, B>>>(in, out, n, 0.3f); show("scaled");
  filtered<<<grid, B>>>(in, out, n, in); show("filtered");
}
