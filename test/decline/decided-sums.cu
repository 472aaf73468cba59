// A product that has other uses than its sum is not fused. Where a condition that is
// the same for all threads stands between both, compilers decide it once for all
// outputs of a thread and have a copy of the code for each way: in one of them
// the sum is the only use, and fused. Conditions on data, and guards, stay.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --list --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: rcache-check diff --device-code=nvcc %s %t.cu
//
// CHECK-DAG: declined flag; fusion-unsettled
// CHECK-DAG: declined chosen; fusion-unsettled
// CHECK-DAG: declined present; fusion-unsettled
// CHECK-DAG: declined either; fusion-unsettled
// CHECK-DAG: declined folded; fusion-unsettled
// CHECK-DAG: rewritten guarded
#include <cstdio>

#define B 128
#define STAGE                                                                  \
  __shared__ float s[B + 2];                                                   \
  const int t = threadIdx.x, g = blockIdx.x * B + t;                           \
  s[t] = g < n ? a[g] : 0.f;                                                   \
  if (t < 2)                                                                   \
    s[t + B] = g + B < n ? a[g + B] : 0.f;                                     \
  __syncthreads();

__global__ void flag(const float *__restrict__ a, float *__restrict__ o, int n,
                     float w, int flags) {
  STAGE
  if (g < n) {
    float r = w * (s[t] + s[t + 2]);
    if ((flags & 0x30) == 0x20)
      r += s[t + 1];
    o[g] = r;
  }
}
__global__ void chosen(const float *__restrict__ a, const float *__restrict__ b,
                       float *__restrict__ o, int n, float w, int mode) {
  STAGE
  if (g < n) {
    float r = w * (s[t] - s[t + 2]);
    switch (mode) {
    case 1:
      r += b[g];
      break;
    case 2:
      r = r > 0 ? r : 0;
      break;
    }
    o[g] = r;
  }
}
__global__ void present(const float *__restrict__ a, const float *__restrict__ b,
                        float *__restrict__ o, int n, float w) {
  STAGE
  if (g < n) {
    float r = w * (s[t] - s[t + 2]);
    if (b)
      r += b[g];
    o[g] = r;
  }
}
__global__ void either(const float *__restrict__ a, float *__restrict__ o, int n,
                       float w, int mode) {
  STAGE
  if (g < n) {
    const float r = w * s[t];
    const bool Adds = mode == 7;
    o[g] = Adds ? r + s[t + 1] : r;
  }
}
// Where the loop takes no round, q * 3 is a number: both are multiplied in front of
// where they meet, and the sum gets what was chosen.
__global__ void folded(const float *__restrict__ a, float *__restrict__ o, int n,
                       int rounds) {
  STAGE
  float q = 0;
  for (int k = 0; k < rounds; ++k)
    q += s[t + k % 3];
  if (g < n)
    o[g] = s[t + 1] + q * 3;
}
__global__ void guarded(const float *__restrict__ a, float *__restrict__ o, int n,
                        float w) {
  STAGE
  if (g < n) {
    float r = w * (s[t] + s[t + 2]);
    if (g < n - 1)
      r += s[t + 1];
    o[g] = r;
  }
}

int main() {
  const int n = 1000;
  float *a, *b, *o;
  cudaMallocManaged(&a, n * 4);
  cudaMallocManaged(&b, n * 4);
  cudaMallocManaged(&o, n * 4);
  for (int i = 0; i < n; ++i)
    a[i] = 0.37f * float(i % 91) - 11.3f, b[i] = 1.7f - 0.11f * float(i % 53);
  const int blocks = (n + B - 1) / B;
  for (int mode : {0, 1, 2, 7, 0x20}) {
    flag<<<blocks, B>>>(a, o, n, 1.37f, mode);
    chosen<<<blocks, B>>>(a, b, o, n, 1.37f, mode);
    present<<<blocks, B>>>(a, mode ? b : nullptr, o, n, 1.37f);
    either<<<blocks, B>>>(a, o, n, 1.37f, mode);
    folded<<<blocks, B>>>(a, o, n, mode);
    guarded<<<blocks, B>>>(a, o, n, 1.37f);
  }
  cudaDeviceSynchronize();
}
