// A product that reaches a sum over code that the rewritten kernel has no longer,
// or has in another form: nobody can say whether the original's compiler fused it.
//
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -o %t.cu --force --list --cuda-path=%cuda 2>&1 | FileCheck %s
//
// CHECK-DAG: declined overBarrier; fusion-unsettled
// CHECK-DAG: declined intoLoop; fusion-unsettled
// CHECK-DAG: declined outOfLoop; fusion-unsettled
// CHECK-DAG: declined nextRound; fusion-unsettled
// CHECK-DAG: declined sameInRounds; fusion-unsettled
// CHECK-DAG: declined byIndex; fusion-unsettled
// CHECK-DAG: declined stagedAndUsed; fusion-unsettled
// CHECK-DAG: declined ofParameters; fusion-unsettled
// CHECK-DAG: declined inFunction; fusion-unsettled
// CHECK-DAG: rewritten straight
// CHECK-DAG: rewritten unrolled
// CHECK-DAG: rewritten byData
// CHECK-DAG: rewritten rounded
#define TILE                                                                   \
  __shared__ float s[260];                                                     \
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;                         \
  s[t + 2] = g < n ? a[g] : 0.f;                                               \
  if (t < 2) {                                                                 \
    s[t] = g >= 2 ? a[g - 2] : 0.f;                                            \
    s[t + 258] = g + 256 < n ? a[g + 256] : 0.f;                               \
  }                                                                            \
  __syncthreads();
#define KERNEL(name)                                                           \
  __global__ void name(const float *__restrict__ a, const float *__restrict__ c, \
                       float *__restrict__ b, float w, float v, int n)

KERNEL(overBarrier) {
  const int h = blockIdx.x * 256 + threadIdx.x;
  const float p = h < n ? c[h] : 0.f, q = p * w;
  TILE
  if (g < n)
    b[g] = q + s[t + 1];
}
KERNEL(rounded) {
  const int h = blockIdx.x * 256 + threadIdx.x;
  const float p = h < n ? c[h] : 0.f, q = __fmul_rn(p, w);
  TILE
  if (g < n)
    b[g] = q + s[t + 1];
}
KERNEL(straight) {
  TILE
  if (g < n) {
    const float p = s[t] * w, q = p + s[t + 1];
    b[g] = q * p - s[t + 2] * s[t + 3];
  }
}
KERNEL(intoLoop) {
  TILE
  if (g < n) {
    const float mean = (s[t] + s[t + 1]) * 0.5f;
    float sum = 0.f;
    for (int k = 0; k < 5; ++k)
      sum += fabsf(s[t + k] - mean);
    b[g] = sum;
  }
}
KERNEL(unrolled) {
  TILE
  if (g < n) {
    const float mean = (s[t] + s[t + 1]) * 0.5f;
    float sum = 0.f;
#pragma unroll
    for (int k = 0; k < 5; ++k)
      sum += fabsf(s[t + k] - mean);
    b[g] = sum;
  }
}
KERNEL(outOfLoop) {
  TILE
  if (g < n) {
    float p = 1.f;
    for (int k = 0; k < 5; ++k)
      p *= s[t + k];
    b[g] = p + w;
  }
}
KERNEL(nextRound) {
  TILE
  if (g < n) {
    float sum = 0.f, last = 0.f;
    for (int k = 0; k < 5; ++k) {
      sum += last;
      last = s[t + k] * w;
    }
    b[g] = sum;
  }
}
KERNEL(sameInRounds) {
  TILE
  if (g < n) {
    float sum = 0.f;
    for (int k = 0; k < 5; ++k)
      sum = fabsf(sum - s[t + k]) + s[t] * w;
    b[g] = sum;
  }
}
KERNEL(byIndex) {
  TILE
  if (g < n)
    b[g] = (t > 0 ? s[t] * w : v) + s[t + 1];
}
KERNEL(byData) {
  TILE
  if (g < n)
    b[g] = (s[t + 2] > 0.f ? s[t] * w : v) + s[t + 1];
}
KERNEL(stagedAndUsed) {
  __shared__ float s[256];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  const float p = a[g] * w;
  s[t] = p + v;
  b[n + g] = p;
  __syncthreads();
  b[g] = s[t] + s[t ^ 1];
}
KERNEL(ofParameters) {
  TILE
  if (g < n)
    b[g] = w * v + s[t] * s[t + 1];
}
__device__ float norm(float x, float y, int positive) {
  float p = 0.f;
  if (positive)
    p = x * y;
  return p + 1.f;
}
KERNEL(inFunction) {
  TILE
  if (g < n)
    b[g] = norm(s[t], s[t + 1], n);
}
int main() {
  const int n = 5120;
  float *a, *c, *b;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&c, n * 4);
  cudaMalloc(&b, 2 * n * 4);
#define RUN(k) k<<<n / 256, 256>>>(a, c, b, 0.3f, 1.7f, n)
  RUN(overBarrier);
  RUN(rounded);
  RUN(straight);
  RUN(intoLoop);
  RUN(unrolled);
  RUN(outOfLoop);
  RUN(nextRound);
  RUN(sameInRounds);
  RUN(byIndex);
  RUN(byData);
  RUN(stagedAndUsed);
  RUN(ofParameters);
  RUN(inFunction);
  return cudaDeviceSynchronize();
}
