// `x - y * 3` becomes `x + y * -3` in nvcc, but not in loops that it unrolls over arrays of
// a thread. What is fused is the same then, unless x is twice something, or negated
// (lib/Model/TurnedSums.cpp): such kernels are left. So are those where a product that is
// fused only in its block of code has a sum that its store is parted from by a condition.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=off --list --cuda-path=%cuda 2>&1 \
// RUN:   | FileCheck %s
// RUN: rcache-check diff --device-code=nvcc %s %t.cu
// RUN: rcache-rewrite %s -o %t2.cu --force --self-check=off --coarsen=2 --cuda-path=%cuda
// RUN: rcache-check diff --device-code=nvcc %s %t2.cu
//
// CHECK-DAG: declined twice; fusion-unsettled ('s[t + 1] * 2.0f - s[t + 3] * 3.0f' in line
// CHECK-DAG: declined twiceProduct; fusion-unsettled
// CHECK-DAG: declined twiceNegative; fusion-unsettled
// CHECK-DAG: declined twiceHalf; fusion-unsettled
// CHECK-DAG: declined twiceVariable; fusion-unsettled
// CHECK-DAG: declined twiceScaled; fusion-unsettled
// CHECK-DAG: declined twiceCalled; fusion-unsettled
// CHECK-DAG: declined twiceReturned; fusion-unsettled
// CHECK-DAG: declined returnedTwice; fusion-unsettled
// CHECK-DAG: declined returnedDeep; fusion-unsettled
// CHECK-DAG: declined negatedReturned; fusion-unsettled
// CHECK-DAG: declined twiceStaged; fusion-unsettled
// CHECK-DAG: declined negated; fusion-unsettled
// CHECK-DAG: declined negatedOne; fusion-unsettled
// CHECK-DAG: declined negatedFactor; fusion-unsettled
// CHECK-DAG: declined negatedDeep; fusion-unsettled
// A product that is doubled as well, and one that is known one way, in a function:
// CHECK-DAG: declined doubledToo; fusion-unsettled
// CHECK-DAG: declined knownInCall; fusion-unsettled
// What stays as it is:
// CHECK-DAG: rewritten plain
// CHECK-DAG: rewritten twiceSum
// CHECK-DAG: rewritten twiceTaken
// CHECK-DAG: rewritten twiceOfTwo
// CHECK-DAG: rewritten negatedSum
// CHECK-DAG: rewritten ones
// Products that all outputs have in common, in a function:
// CHECK-DAG: {{declined inCommon; fusion-unsettled|rewritten inCommon: .*1 output a thread}}
// Sums whose stores are parted from them:
// CHECK-DAG: declined parted; fusion-unsettled
// CHECK-DAG: declined partedEarly; fusion-unsettled
// CHECK-DAG: rewritten together
#include <cstring>
#include <cuda_runtime.h>
#define KERNEL(NAME, ...)                                                                    \
  __global__ void NAME(const float *__restrict__ a, float *__restrict__ o, float w,          \
                       float v, int n) {                                                     \
    __shared__ float s[128 + 4];                                                             \
    const int t = threadIdx.x, g = blockIdx.x * 128 + t;                                     \
    s[t] = g < n ? a[g] : 0.0f;                                                              \
    if (t < 4)                                                                               \
      s[t + 128] = g + 128 < n ? a[g + 128] : 0.0f;                                          \
    __syncthreads();                                                                         \
    __VA_ARGS__                                                                              \
  }
#define SUM(NAME, ...) KERNEL(NAME, if (g < n) o[g] = __VA_ARGS__;)

SUM(twice, s[t + 1] * 2.0f - s[t + 3] * 3.0f)
SUM(twiceProduct, s[t + 1] * s[t + 2] * 2.0f - s[t + 3] * 3.0f)
SUM(twiceNegative, s[t + 1] * s[t + 2] * 2.0f + s[t] * -3.0f)
SUM(twiceHalf, s[t + 1] / 0.5f - s[t] / 4.0f)
KERNEL(twiceVariable, if (g < n) {
  const float x = 2 * s[t + 1];
  const float y = 5.0f * s[t];
  o[g] = x - y;
})
KERNEL(twiceScaled, if (g < n) {
  float x = s[t + 1] * s[t];
  x *= 2.0f;
  o[g] = x - s[t + 2] * (s[t + 3] / 4.0f);
})
__device__ float take(float x, float y) { return x - y * 3.0f; }
SUM(twiceCalled, take(2.0f * s[t], s[t + 1]))
SUM(negated, -(s[t + 1] * s[t + 2]) - s[t + 3] * 3.0f)
SUM(negatedOne, s[t + 1] * s[t + 2] * -1.0f - s[t] * 3.0f)
SUM(negatedFactor, s[t + 1] * -s[t + 2] - s[t] * 3.0f)
__device__ float turned(float x) { return -x; }
KERNEL(negatedDeep, if (g < n) {
  const float x = turned(s[t + 1]);
  o[g] = x * s[t + 2] - s[t] * 3.0f;
})
SUM(plain, s[t + 1] * s[t + 2] - s[t] * 3.0f)
SUM(twiceSum, s[t + 1] * 2.0f + s[t] * 3.0f)
SUM(twiceTaken, s[t] * 3.0f - s[t + 1] * s[t + 2] * 2.0f)
SUM(twiceOfTwo, s[t + 1] * 2.0f - s[t] * 2.0f)
SUM(negatedSum, -s[t + 1] - s[t] * 3.0f)
__global__ void twiceStaged(const float *__restrict__ a, const float *__restrict__ c,
                            float *__restrict__ o, float w, float v, int n) {
  __shared__ float s[128 + 4];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] * c[g] * 2.0f - c[g] * 3.0f : 0.0f;
  if (t < 4)
    s[t + 128] = g + 128 < n ? a[g + 128] * c[g + 128] * 2.0f - c[g + 128] * 3.0f : 0.0f;
  __syncthreads();
  if (g < n)
    o[g] = s[t + 1] + v + s[t + 4];
}

__device__ float mix(float x, float y, float z) { return x * y + z; }
// A product that a function returns:
__device__ float scaled(float x, float y) { return x * y; }
__device__ float scaledLess(float x, float y, float z) {
  if (z > 0.5f)
    return scaled(x, y);
  return z;
}
SUM(twiceReturned, 2 * s[t + 1] - scaled(3.0f, s[t + 3]))
SUM(returnedTwice, scaled(s[t], 2.0f) - s[t + 3] * 3.0f)
SUM(returnedDeep, s[t] * 2.0f - scaledLess(3.0f, s[t + 1], v))
SUM(negatedReturned, -(s[t + 2] * s[t]) - scaled(s[t + 1], 3.0f))
KERNEL(doubledToo, if (g >= n) return; const float x = (s[t] / 3.0f) * s[t + 1];
       o[g] = (s[t + 2] * 2.0f - x * 2.0f) + x;)
KERNEL(knownInCall, if (g < n) {
  const float p = s[t + 3] * s[t] + s[t + 1] * s[t + 2];
  const float x = !(s[t + 2] > w) ? p : s[t];
  o[g] = mix(s[t + 3], x, s[t + 4]) + x;
})
SUM(inCommon, mix(w + 0.3f, w + 0.3f, s[t] + s[t + 1]))

KERNEL(parted, const float x = v - s[t] * s[t + 2]; if (g < n) o[g] = x;)
KERNEL(partedEarly, const float x = s[t] * s[t + 2] + 1.0f; if (g >= n) return; o[g] = x;)
KERNEL(together, if (g >= n) return; const float x = v - s[t] * s[t + 2]; o[g] = x;)

// A factor that says nothing leaves what is no number with all its bits.
__global__ void ones(const float *__restrict__ a, float *__restrict__ o, int n) {
  __shared__ float s[128 + 4];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] * (1.5f - 0.5f) - 0.0f : 0.0f;
  if (t < 4)
    s[t + 128] = g + 128 < n ? a[g + 128] * (1.5f - 0.5f) - 0.0f : 0.0f;
  __syncthreads();
  if (g < n)
    o[g] = s[t + 3];
}

int main() {
  const int n = 1000;
  float *a, *o, *h = new float[n];
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&o, n * sizeof(float));
  for (int i = 0; i < n; ++i)
    h[i] = (i * 7919 % 1013) * 0.37f - 180.f;
  const unsigned none = 0xffc01234u;
  memcpy(&h[77], &none, sizeof none);
  cudaMemcpy(a, h, n * sizeof(float), cudaMemcpyHostToDevice);
#define RUN(K)                                                                               \
  K<<<8, 128>>>(a, o, 0.7f, 0.3f, n);                                                        \
  cudaDeviceSynchronize();
  RUN(twice) RUN(twiceProduct) RUN(twiceNegative) RUN(twiceHalf) RUN(twiceVariable)
  RUN(twiceScaled) RUN(twiceCalled) RUN(twiceReturned) RUN(returnedTwice)
  RUN(returnedDeep) RUN(negatedReturned) RUN(negated) RUN(negatedOne) RUN(negatedFactor)
  RUN(negatedDeep) RUN(plain) RUN(twiceSum) RUN(twiceTaken) RUN(twiceOfTwo) RUN(negatedSum)
  RUN(doubledToo) RUN(knownInCall) RUN(inCommon) RUN(parted) RUN(partedEarly) RUN(together)
  twiceStaged<<<8, 128>>>(a, a, o, 0.7f, 0.3f, n);
  cudaDeviceSynchronize();
  ones<<<8, 128>>>(a, o, n);
  return cudaDeviceSynchronize();
}
