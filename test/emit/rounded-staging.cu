// What was staged was rounded in shared memory, whatever made it: a quotient by
// a power of two is a product to the compiler, and so is (float)(a * 0.5). In a
// register it must not meet the sum that reads it.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu
// RUN: %if slow %{ %nvcc -std=c++17 -Werror all-warnings -ptx %t.cu -o %t.ptx %}
// No sum of these kernels has a product of its own.
// RUN: %nvcc -std=c++17 -ptx %t.cu -o - | FileCheck %s --check-prefix=PTX
// RUN: %nvcc -std=c++17 -use_fast_math -ptx %t.cu -o - | FileCheck %s --check-prefix=PTX
// PTX-NOT: fma
//
// CHECK-DAG: rewrote 'quarter'
// CHECK-DAG: rewrote 'eighth'
// CHECK-DAG: rewrote 'half_of'
// CHECK-DAG: rewrote 'scaled'
// CHECK-DAG: rewrote 'smaller'
// CHECK-DAG: rewrote 'shifted'
// CHECK-DAG: rewrote 'average'
// CHECK-DAG: rewrote 'squared'
// TEXT-DAG: __fadd_rn({{.*}} / 4.f, -0.0f)
// TEXT-DAG: __fmul_rn(
#include <cstdio>
#include <vector>
#define STAGE(V)                                                                \
  __shared__ float s[130];                                                      \
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;                          \
  s[t + 1] = g < n ? V(g) : 0.f;                                                \
  if (t == 0)                                                                   \
    s[0] = g > 0 ? V(g - 1) : 0.f;                                              \
  if (t == 127)                                                                 \
    s[129] = g + 1 < n ? V(g + 1) : 0.f;                                        \
  __syncthreads();                                                              \
  if (g < n)                                                                    \
    b[g] = s[t] + s[t + 1] + s[t + 2];

#define QUARTER(e) a[e] / 4.f
__global__ void quarter(const float *a, const float *c, float *b, float w, int n) {
  STAGE(QUARTER)
}
#define EIGHTH(e) a[e] / 8.0
__global__ void eighth(const float *a, const float *c, float *b, float w, int n) {
  STAGE(EIGHTH)
}
#define HALF_OF(e) (float)(a[e] * 0.5)
__global__ void half_of(const float *a, const float *c, float *b, float w, int n) {
  STAGE(HALF_OF)
}
#define SCALED(e) a[e] * w * 1.f // of which the compiler leaves a[e] * w
__global__ void scaled(const float *a, const float *c, float *b, float w, int n) {
  STAGE(SCALED)
}
#define SMALLER(e) fminf(a[e] * w, c[e] * w)
__global__ void smaller(const float *a, const float *c, float *b, float w, int n) {
  STAGE(SMALLER)
}
#define SHIFTED(e) a[e] * c[e] - 0.f
__global__ void shifted(const float *a, const float *c, float *b, float w, int n) {
  STAGE(SHIFTED)
}
#define AVERAGE(e) (a[e] > 0.f ? (a[e] + c[e]) / 2.f : -(c[e] * w))
__global__ void average(const float *a, const float *c, float *b, float w, int n) {
  STAGE(AVERAGE)
}
__device__ float square(float x) { return x * x; }
#define SQUARED(e) square(a[e])
__global__ void squared(const float *a, const float *c, float *b, float w, int n) {
  STAGE(SQUARED)
}
int main() {
  const int n = 3000;
  std::vector<float> h(n);
  unsigned x = 1;
  for (auto &v : h) {
    x = x * 1664525u + 1013904223u;
    v = float(int(x >> 8) - (1 << 23)) * 1.1920929e-7f;
  }
  float *a, *c, *b;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&c, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(c, h.data() + 1, (n - 1) * 4, cudaMemcpyHostToDevice);
  const int m = n - 1, k = (m + 127) / 128;
  quarter<<<k, 128>>>(a, c, b, 0.3f, m);
  eighth<<<k, 128>>>(a, c, b, 0.3f, m);
  half_of<<<k, 128>>>(a, c, b, 0.3f, m);
  scaled<<<k, 128>>>(a, c, b, 0.3f, m);
  smaller<<<k, 128>>>(a, c, b, 0.3f, m);
  shifted<<<k, 128>>>(a, c, b, 0.3f, m);
  average<<<k, 128>>>(a, c, b, 0.3f, m);
  squared<<<k, 128>>>(a, c, b, 0.3f, m);
  return cudaDeviceSynchronize();
}
