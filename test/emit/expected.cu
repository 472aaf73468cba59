// What is expected of a condition or a value (__builtin_expect) changes nothing of it.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --self-check=off -o %t.cu --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -DRCACHE_ANY_LAUNCH
//
// CHECK-DAG: rewrote 'border' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'guarded' {{.*}}'s' reloaded
#include <cstdio>
#define likely(x) __builtin_expect(!!(x), 1)
__global__ void border(const float *p, float *q, int n) {
  __shared__ float s[130];
  const int b = blockIdx.x * 128;
  for (int i = threadIdx.x; i < 130; i += 128) {
    const int g = b + i - 1;
    if (likely(g >= 0 && g < n))
      s[i] = p[g];
    else
      s[i] = 1.f;
  }
  __syncthreads();
  const int g = b + threadIdx.x;
  if (__builtin_expect(g >= n, 0))
    return;
  q[g] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}
__global__ void guarded(const float *p, float *q, int n) {
  __shared__ float s[128];
  const int b = blockIdx.x * 128;
  const int m = __builtin_expect(n, 1000);
  s[threadIdx.x] = likely(b + (int)threadIdx.x < m) ? p[b + threadIdx.x] : 0.f;
  __syncthreads();
  const int g = b + threadIdx.x;
  if (likely(g < m))
    q[g] = s[threadIdx.x] - s[(threadIdx.x + 1) % 128];
}
int main() {
  const int n = 1000;
  float *x, *y, h[n];
  cudaMalloc(&x, 4 * n);
  cudaMalloc(&y, 4 * n);
  for (int i = 0; i < n; ++i)
    h[i] = i % 37;
  cudaMemcpy(x, h, 4 * n, cudaMemcpyHostToDevice);
#define R(k)                                                                   \
  cudaMemset(y, 0, 4 * n);                                                     \
  k<<<(n + 127) / 128, 128>>>(x, y, n);                                        \
  cudaMemcpy(h, y, 4 * n, cudaMemcpyDeviceToHost);                             \
  {                                                                            \
    double t = 0;                                                              \
    for (float v : h)                                                          \
      t = t * 1.01 + v;                                                        \
    printf(#k " %g\n", t);                                                     \
  }
  R(border) R(guarded)
}
