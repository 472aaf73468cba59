// Words in front of what clang says that a declaration begins with: `__shared__ alignas(16)
// float s[66];` begins at alignas for clang. Arrays that stay shared stay declared so.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --self-check=off -o %t.cu --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT --input-file=%t.cu %s
// RUN: rcache-check diff %s %t.cu -- -DRCACHE_ANY_LAUNCH
// RUN: %compile -std=c++17 -c %t.cu -o %t.o
//
// CHECK-DAG: rewrote 'behind'
// CHECK-DAG: rewrote 'in_front'
// CHECK-DAG: rewrote 'aligned'
// CHECK-DAG: rewrote 'by_macro'
// CHECK-DAG: rewrote 'unused'
// CHECK-DAG: rewrote 'spelled'
// CHECK-DAG: rewrote 'product' {{.*}}{{.*}}'a' kept shared, staged once for several blocks; 'b' kept shared, staged once for several blocks
// CHECK-DAG: rewrote 'later' {{.*}}'s' kept shared
// CHECK-DAG: rewrote 'others'
// TEXT-LABEL: void product_rc
// TEXT: __shared__ alignas(16) float a[
// TEXT-LABEL: void later_rc
// TEXT: __shared__ alignas(16) float s[66];
#include <cstdio>
#define STAGED __shared__ alignas(8)
#define STAGE                                                                  \
  const int b = blockIdx.x * 64;                                               \
  for (int i = threadIdx.x; i < 66; i += 64) {                                 \
    const int g = b + i - 1;                                                   \
    s[i] = g >= 0 && g < n ? x[g] : 0.f;                                       \
  }                                                                            \
  __syncthreads();                                                             \
  const int g = b + threadIdx.x;                                               \
  if (g < n)                                                                   \
    y[g] = s[threadIdx.x] + s[threadIdx.x + 2];
#define KERNEL(name, declaration)                                              \
  __global__ void name(const float *x, float *y, int n) {                      \
    declaration;                                                               \
    STAGE                                                                      \
  }
KERNEL(behind, __shared__ alignas(16) float s[66])
KERNEL(in_front, alignas(16) __shared__ float s[66])
KERNEL(aligned, __shared__ __align__(16) float s[66])
KERNEL(by_macro, STAGED float s[66])
KERNEL(unused, __shared__ __attribute__((unused)) alignas(16) float s[66])
KERNEL(spelled, __attribute__((shared)) alignas(16) float s[66])

__global__ void product(const float *x, float *y, int n) {
  __shared__ alignas(16) float a[16][16];
  __shared__ float b[16][16];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int c = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int k = 0; k < 32; k += 16) {
    a[ty][tx] = x[ty * 32 + k + tx];
    b[ty][tx] = x[(k + ty) * 32 + c];
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += a[ty][i] * b[i][tx];
    __syncthreads();
  }
  y[ty * 32 + c] = sum;
}
__global__ void later(const float *x, float *y, int n) {
  int t = threadIdx.x;
  __shared__ alignas(16) float s[66];
  for (int i = t; i < 66; i += 64)
    s[i] = x[(blockIdx.x * 64 + i) * 3 % n];
  __syncthreads();
  for (int k = 0; k < 3; ++k) {
    const float v = s[t] + s[(t * 7 + n) % 66];
    __syncthreads();
    s[t] = v;
    __syncthreads();
  }
  if (blockIdx.x * 64 + t < n)
    y[blockIdx.x * 64 + t] = s[t];
}
__global__ void others(const float *x, float *y, int n) {
  __shared__ alignas(16) float s[66];
  [[maybe_unused]] const int b = blockIdx.x * 64;
  for (int i = threadIdx.x; i < 66; i += 64) {
    int g = b + i - 1;
    s[i] = g >= 0 && g < n ? x[g] : 0.f;
  }
  __syncthreads();
  [[maybe_unused]] alignas(16) float v[2] = {s[threadIdx.x], s[threadIdx.x + 2]};
  static constexpr float w = 3.f;
  const int g = b + threadIdx.x;
  if (g < n)
    y[g] = v[0] + w * v[1];
}

int main() {
  const int n = 1000;
  float *x, *y, h[n];
  cudaMalloc(&x, n * 8);
  cudaMalloc(&y, n * 8);
  for (int i = 0; i < n; ++i)
    h[i] = i % 37;
  cudaMemcpy(x, h, n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(x + n, h, n * 4, cudaMemcpyHostToDevice);
  const auto show = [&](const char *name) {
    cudaMemcpy(h, y, n * 4, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (float v : h)
      sum = sum * 1.01 + v;
    printf("%s %g\n", name, sum);
  };
#define RUN(name, blocks, threads)                                             \
  cudaMemset(y, 0, n * 4);                                                     \
  name<<<blocks, threads>>>(x, y, n);                                          \
  show(#name);
  RUN(behind, 16, 64) RUN(in_front, 16, 64) RUN(aligned, 16, 64) RUN(by_macro, 16, 64)
  RUN(unused, 16, 64) RUN(spelled, 16, 64) RUN(others, 16, 64)
  RUN(product, 2, 256) RUN(later, 16, 64)
}
