// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A template and a function of one name, functions that are template arguments, guards
// that overflow for the largest arguments: executed as others are.

// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --self-check=quick --cuda-path=%cuda > %t.remarks 2>&1
// RUN: FileCheck --implicit-check-not='not executed' --implicit-check-not='left as it is' %s < %t.remarks

#include <type_traits>

#define STAGE(T)                                                               \
  __shared__ T s[130];                                                         \
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;                         \
  if (g < n + 2)                                                               \
    s[t] = a[g];                                                               \
  if (t < 2 && g + 128 < n + 2)                                                \
    s[t + 128] = a[g + 128];                                                   \
  __syncthreads();

// CHECK: rewrote 'k<float>'
// CHECK: note: executed before
template <class T> __global__ void k(const T *a, T *b, int n) {
  STAGE(T)
  if (g < n)
    b[g] = s[t] + s[t + 1];
}
// CHECK: rewrote 'k'
// CHECK: note: executed before
__global__ void k(const float *a, float *b, int n) {
  STAGE(float)
  if (g < n)
    b[g] = s[t] - s[t + 1];
}

__device__ float less(float x, float y) { return x - y; }
// CHECK: rewrote 'with<&less>'
// CHECK: note: executed before
template <float (*F)(float, float)> __global__ void with(const float *a, float *b, int n) {
  STAGE(float)
  if (g < n)
    b[g] = F(s[t], s[t + 2]);
}

// CHECK: rewrote 'sums'
// CHECK: note: executed before
__global__ void sums(const int *a, int *b, int n) {
  __shared__ int s[258];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n + 2 ? a[g] : 0;
  if (t < 2)
    s[t + 256] = g + 256 < n + 2 ? a[g + 256] : 0;
  __syncthreads();
  if (g < n)
    b[g] = s[t] + s[t + 1] + s[t + 2];
}

// CHECK: rewrote 'chosen<float>'
// CHECK: note: executed before
template <class T>
__global__ std::enable_if_t<std::is_floating_point<T>::value> chosen(const T *a, T *b, int n) {
  STAGE(T)
  if (g < n)
    b[g] = s[t] - s[t + 2];
}

void run(const float *a, float *b, const int *c, int *d, int n) {
  k<<<(n + 127) / 128, 128>>>(a, b, n);
  k<float><<<(n + 127) / 128, 128>>>(a, b, n - 2);
  with<less><<<(n + 127) / 128, 128>>>(a, b, n);
  chosen<<<(n + 127) / 128, 128>>>(a, b, n);
  sums<<<(n + 255) / 256, 256>>>(c, d, n);
}
