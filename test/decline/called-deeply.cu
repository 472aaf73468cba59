// Functions that call others over and over: each body is looked through once.
//
// REQUIRES: cuda-toolkit
// RUN: timeout 60 rcache-rewrite %s -o %t.cu -q --list --force --self-check=off --cuda-path=%cuda | FileCheck %s
// CHECK: declined deep; fusion-unsettled
#define F(N, M) \
  __device__ float f##N(float x) { return f##M(x) + f##M(x + 1.f) - f##M(x * x); }
__device__ float f0(float x) { return x + 1.f; }
F(1, 0) F(2, 1) F(3, 2) F(4, 3) F(5, 4) F(6, 5) F(7, 6) F(8, 7) F(9, 8) F(10, 9) F(11, 10) F(12, 11) F(13, 12)

__global__ void deep(const float *a, float *o, int n) {
  __shared__ float s[66];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  for (int e = t; e < 66; e += 64)
    s[e] = blockIdx.x * 64 + e < n ? a[blockIdx.x * 64 + e] : 1.f;
  __syncthreads();
  if (g < n)
    o[g] = f13(s[t]) + s[t + 1] * s[t + 2];
}

void launch(const float *a, float *o, int n) { deep<<<(n + 63) / 64, 64>>>(a, o, n); }
