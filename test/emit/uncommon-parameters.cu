// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays of rows as parameters, volatile results, names beyond ASCII, template
// parameters that end with `>>`, stores with a cache policy, managed variables.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu
// RUN: %compile -std=c++17 -c %t.cu -o %t.o
//
// CHECK-DAG: rewrote 'rows'
// CHECK-DAG: rewrote 'row_pointer'
// CHECK-DAG: rewrote 'mirrored_bools'
// CHECK-DAG: rewrote 'volatile_result'
// CHECK-DAG: rewrote 'volatile_member'
// CHECK-DAG: rewrote 'letters'
// CHECK-DAG: rewrote 'angles<float, Plus<float>>'
// CHECK-DAG: rewrote 'streaming'
// CHECK-DAG: rewrote 'named_row'
// TEXT: ((const float *)in)
#include <cstdio>
#include <vector>
#define W 64
__global__ void rows(const float in[][W], float out[][W]) {
  __shared__ float s[W + 2];
  int t = threadIdx.x, b = blockIdx.x;
  s[t + 1] = in[b][t];
  if (t == 0) { s[0] = 0; s[W + 1] = 0; }
  __syncthreads();
  out[b][t] = s[t] + s[t + 1] + s[t + 2];
}
__global__ void row_pointer(const float (*in)[W], float *out) {
  __shared__ float s[W + 2];
  int t = threadIdx.x, b = blockIdx.x;
  const float *row = in[b];
  s[t + 1] = *(*(in + b) + t);
  if (t == 0) { s[0] = 0; s[W + 1] = row[0]; }
  __syncthreads();
  out[b * W + t] = s[t] + s[t + 1] + s[t + 2];
}
__global__ void mirrored_bools(const bool in[][W], int *out) {
  __shared__ bool s[W + 2];
  int t = threadIdx.x, b = blockIdx.x;
  s[W - t] = in[b][t];
  if (t == 0) { s[0] = 0; s[W + 1] = 0; }
  __syncthreads();
  out[b * W + t] = s[t] + s[t + 1] * 2 + s[t + 2] * 4;
}
__global__ void volatile_result(const int *in, volatile int *out) {
  __shared__ int s[W + 2];
  const int t = threadIdx.x, g = blockIdx.x * W + t;
  s[t] = in[g];
  if (t < 2) s[t + W] = in[g + W];
  __syncthreads();
  out[g] = s[t] * 3 + s[t + 1];
}
struct Q { int a; volatile int *p; };
__global__ void volatile_member(const int *in, Q q) {
  __shared__ int s[W + 2];
  const int t = threadIdx.x, g = blockIdx.x * W + t;
  s[t] = in[g];
  if (t < 2) s[t + W] = in[g + W];
  __syncthreads();
  q.p[g] = s[t] * 3 + s[t + 1] + q.a;
}
__global__ void letters(const int *in, int *out, int größe) {
  __shared__ int sé[W + 2];
  int héllo = 3;
  const int t = threadIdx.x, g = blockIdx.x * W + t;
  sé[t] = in[g];
  if (t < 2) sé[t + W] = in[g + W];
  __syncthreads();
  if (g < größe) out[g] = sé[t] * héllo + sé[t + 1] - größe;
}
template <class T> struct Plus {
  __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T, class Op = Plus<T>> __global__ void angles(const T *in, T *out, Op op);
template <class T, class Op> __global__ void angles(const T *in, T *out, Op op) {
  __shared__ T s[W + 2];
  const int t = threadIdx.x, g = blockIdx.x * W + t;
  s[t] = in[g];
  if (t < 2) s[t + W] = in[g + W];
  __syncthreads();
  out[g] = op(s[t], s[t + 1]);
}
__managed__ int scale = 3;
__global__ void streaming(const int *in, int *out) {
  __shared__ int s[W + 2];
  const int t = threadIdx.x, g = blockIdx.x * W + t;
  s[t] = __ldca(in + g);
  if (t < 2) s[t + W] = __ldlu(&in[g + W]);
  __syncthreads();
  __stcs(&out[g], s[t] * scale + s[t + 1]);
}
typedef int Row[W + 2];
__global__ void named_row(const int *in, int *out) {
  __shared__ Row s;
  const int t = threadIdx.x, g = blockIdx.x * W + t;
  s[t] = in[g];
  if (t < 2) s[t + W] = in[g + W];
  __syncthreads();
  out[g] = s[t] * 5 - s[t + 2];
}
template <class T> T *made(size_t n, unsigned mod) {
  std::vector<unsigned char> h(n * sizeof(T));
  unsigned seed = 7;
  for (size_t i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const T x = T((seed >> 16) % mod);
    for (size_t k = 0; k < sizeof(T); ++k) h[i * sizeof(T) + k] = ((const unsigned char *)&x)[k];
  }
  T *d;
  cudaMalloc(&d, n * sizeof(T));
  cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  return d;
}
template <class T> void show(const char *name, const T *d, size_t n) {
  std::vector<unsigned char> h(n * sizeof(T));
  cudaMemcpy(h.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost);
  unsigned x = 0;
  for (unsigned char c : h) x = x * 31 + c;
  printf("%s %08x\n", name, x);
}
int main() {
  const int B = 60, n = B * W;
  auto *f = made<float>(n + W, 1000);
  auto *i = made<int>(n + W, 1000);
  auto *b = made<bool>(n + W, 2);
  auto *fo = made<float>(n, 3);
  auto *io = made<int>(n, 3);
  rows<<<B, W>>>((const float (*)[W])f, (float (*)[W])fo); show("rows", fo, n);
  row_pointer<<<B, W>>>((const float (*)[W])f, fo); show("row_pointer", fo, n);
  mirrored_bools<<<B, W>>>((const bool (*)[W])b, io); show("mirrored_bools", io, n);
  volatile_result<<<B, W>>>(i, io); show("volatile_result", io, n);
  volatile_member<<<B, W>>>(i, Q{5, io}); show("volatile_member", io, n);
  letters<<<B, W>>>(i, io, n - 5); show("letters", io, n);
  angles<<<B, W>>>(f, fo, Plus<float>()); show("angles", fo, n);
  named_row<<<B, W>>>(i, io); show("named_row", io, n);
  streaming<<<B, W>>>(i, io); show("streaming", io, n);
}
