// Kernels that macros write, whole or in part: the new kernel stands behind the
// invocation that ends the old one.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %t.cu -o %t.again.cu --cuda-path=%cuda -- -I%S/Inputs 2> /dev/null
// RUN: cmp %t.cu %t.again.cu
//
// CHECK-DAG: rewrote 'box1'
// CHECK-DAG: rewrote 'box2'
// CHECK-DAG: rewrote 'plain_kernel'
// CHECK-DAG: rewrote 'bodied'
// CHECK-DAG: rewrote 'begun'
#include "buffers.h"
#define DEF(name, R, T) \
__global__ void name(const T *__restrict__ a, T *__restrict__ b, int n) { \
  __shared__ T s[128 + 2 * R]; \
  int t = threadIdx.x, i = blockIdx.x * 128 + t; \
  for (int k = t; k < 128 + 2 * R; k += 128) { int q = (int)blockIdx.x * 128 + k - R; s[k] = q >= 0 && q < n ? a[q] : T(0); } \
  __syncthreads(); \
  if (i < n) { T v = T(0); for (int k = 0; k <= 2 * R; ++k) v += s[t + k]; b[i] = v; } \
}
DEF(box1, 1, float)
DEF(box2, 2, int)
#define KNAME(x) x##_kernel
__global__ void KNAME(plain)(const float *__restrict__ a, float *__restrict__ b, int n) {
  __shared__ float s[130];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  for (int k = t; k < 130; k += 128) { int q = (int)blockIdx.x * 128 + k - 1; s[k] = q >= 0 && q < n ? a[q] : 0.f; }
  __syncthreads();
  if (i < n) b[i] = s[t] + s[t + 2];
}
#define BODY { __shared__ float s[128]; int i = blockIdx.x * 128 + threadIdx.x; s[threadIdx.x] = a[i]; __syncthreads(); b[i] = s[127 - threadIdx.x]; }
__global__ void bodied(const float *__restrict__ a, float *__restrict__ b, int n) BODY
#define BEGIN __global__ void begun(const float *__restrict__ a, float *__restrict__ b, int n) {
#define END }
BEGIN
  __shared__ float s[128]; int i = blockIdx.x * 128 + threadIdx.x; s[threadIdx.x] = a[i]; __syncthreads(); b[i] = s[127 - threadIdx.x];
END
int main() {
  Buf<float> a(1024), b(1024);
  Buf<int> c(1024), d(1024);
  a.nums(3); c.nums(4);
  const int n = 1024;
  box1<<<n / 128, 128>>>(a.d, b.d, n); show("box1", b);
  box2<<<n / 128, 128>>>(c.d, d.d, n); show("box2", d);
  plain_kernel<<<n / 128, 128>>>(a.d, b.d, n); show("plain", b);
  bodied<<<n / 128, 128>>>(a.d, b.d, n); show("bodied", b);
  begun<<<n / 128, 128>>>(a.d, b.d, n); show("begun", b);
}
