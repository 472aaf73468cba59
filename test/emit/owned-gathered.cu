// Owned elements that each thread names by a formula of its number: pairs side by side (Haar),
// rotated, transposed; and elements with a bit put in, which other threads write, all of them
// (Stockham's steps) or some (the way back, and where data decide).
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --exchange=owned -o %t.cu --self-check=off --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu 2>&1 | FileCheck --check-prefix=SAME %s
// RUN: rcache-rewrite %s --kernel=inplace --candidate=2 -o %t.2.cu --self-check=off --cuda-path=%cuda 2>&1 \
// RUN:   | FileCheck --check-prefix=INPLACE %s
// RUN: rcache-check diff %s %t.2.cu 2>&1 | FileCheck --check-prefix=SAME %s
//
// INPLACE: rewrote 'inplace' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'haar' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'rot' {{.*}}; 'a' owned by a warp
// CHECK-DAG: rewrote 'stock' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'ihaar' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'inplace'
// TEXT: {{^    |void }}stock_rc(
// TEXT: ::rcache::device::take_inserted<false>(rc_s_own, rc_s_from0, (h));
// TEXT: {{^    |void }}ihaar_rc(
// TEXT: ::rcache::device::take_inserted_if_rewritten<false>(
// SAME: equivalent: 5 launches
#include <cstdio>
#include <cuda_runtime.h>
__global__ void haar(const float *in, float *out) {
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 512 + t];
  s[t + 256] = in[blockIdx.x * 512 + t + 256];
  __syncthreads();
  for (int n = 256; n >= 1; n >>= 1) {
    float a, d;
    if (t < n) { float p = s[2 * t], q = s[2 * t + 1]; a = (p + q) * 0.70710678f; d = (p - q) * 0.70710678f; }
    __syncthreads();
    if (t < n) { s[t] = a; out[blockIdx.x * 512 + n + t] = d; }
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x * 512] = s[0];
}
__global__ void rot(const int *in, int *out, int k) {
  __shared__ int a[256];
  int t = threadIdx.x;
  a[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int i = 0; i < 5; ++i) {
    int v = a[(t + 37) % 256] * 3 + i;
    __syncthreads();
    a[t] = v + t;
    __syncthreads();
    int w = a[255 - t];
    __syncthreads();
    a[t] = w ^ v;
    __syncthreads();
    w = a[t % 16 * 16 + t / 16];
    __syncthreads();
    a[t] = w + i;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = a[t];
}
__global__ void stock(const float *in, float *out) {
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 512 + t];
  s[t + 256] = in[blockIdx.x * 512 + t + 256];
  __syncthreads();
  for (int h = 1; h < 512; h *= 2) {
    float a = s[t], b = s[t + 256];
    __syncthreads();
    int o = (t / h) * h * 2 + t % h;
    s[o] = a + b;
    s[o + h] = a - b;
    __syncthreads();
  }
  out[blockIdx.x * 512 + t] = s[t];
  out[blockIdx.x * 512 + t + 256] = s[t + 256];
}
__global__ void ihaar(const float *in, float *out) {
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 512 + t];
  s[t + 256] = in[blockIdx.x * 512 + t + 256];
  __syncthreads();
  for (int n = 1; n < 512; n *= 2) {
    float a = 0, d = 0;
    if (t < n) { a = s[t]; d = in[blockIdx.x * 512 + n + t]; }
    __syncthreads();
    if (t < n) { s[2 * t] = a + d; s[2 * t + 1] = a - d; }
    __syncthreads();
  }
  out[blockIdx.x * 512 + t] = s[t];
  out[blockIdx.x * 512 + t + 256] = s[t + 256];
}
__global__ void inplace(const int *in, int *out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  s[t + 128] = in[blockIdx.x * 256 + t + 128];
  __syncthreads();
  for (int h = 128; h > 0; h >>= 1) {
    int i = 2 * t - (t & (h - 1));
    int a = s[i], b = s[i + h], c = a * 3 + b, d = a - 7 * b + t;
    __syncthreads();
    s[i] = c;
    if (d & 4) s[i + h] = d;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = s[t];
  out[blockIdx.x * 256 + t + 128] = s[t + 128];
}
int main() {
  const int n = 4096;
  static float h[n];
  static int g[n];
  for (int i = 0; i < n; ++i)
    h[i] = (i * 7919 % 101) / 7.0f, g[i] = i * 7919;
  float *a, *b, *c;
  int *x, *y;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMalloc(&c, n * 4);
  cudaMalloc(&x, n * 4);
  cudaMalloc(&y, n * 4);
  cudaMemcpy(a, h, n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(x, g, n * 4, cudaMemcpyHostToDevice);
  haar<<<n / 512, 256>>>(a, b);
  rot<<<n / 256, 256>>>(x, y, 4);
  stock<<<n / 512, 256>>>(a, b);
  ihaar<<<n / 512, 256>>>(b, c);
  inplace<<<n / 256, 128>>>(x, y);
  printf("done\n");
}
