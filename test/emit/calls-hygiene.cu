// What writing a call out must not change: names that hide others, conversions,
// conditions, captures; a function that stages and waits by itself.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'k1'
// CHECK-DAG: rewrote 'k2'
// CHECK-DAG: rewrote 'k3'
// CHECK-DAG: rewrote 'k6'
// CHECK-DAG: 'k4' left as it is: {{.*}} [array-to-function]
// CHECK-DAG: 'k7' left as it is: {{.*}} [lambda]
//
#include "buffers.h"
#define HALF(x) ((x) / 2)
__device__ int counter;
__device__ float pickg(const float *s, int i) { if (i < 0) return 0.f; if (i > 100) { float q = s[100]; return q; } float n = s[i]; return n * 2; }
__device__ int gid() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ void put(float *s, const float *a, int n) { int g = gid(); s[threadIdx.x] = g < n ? a[g] : 0.f; if (threadIdx.x < 2) s[threadIdx.x + 128] = g + 128 < n ? a[g + 128] : 0.f; __syncthreads(); }
__device__ float three(const float *w) { float a = w[0]; a += w[1]; a += w[2]; return a; }
__device__ float loopret(const float *w) { for (int i = 0; i < 3; ++i) if (w[i] > 50.f) return w[i]; return 0.f; }
__device__ short narrow(const float *w) { return (int)w[0] * 1000; }
__device__ float byval(const float *w, short k) { k += 1; return w[1] * k; }
__global__ void k1(const float *a, float *b, int n) { // shadowed names: n, s, a
  __shared__ float s[130];
  int t = threadIdx.x, g = gid();
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) { float x = three(s + t); int i = 3; b[g] = x + three(&s[t]) * i; }
}
__global__ void k2(const float *a, float *b, int n) { // staging in a function with a barrier
  __shared__ float s[130];
  put(s, a, n);
  int g = gid();
  if (g < n) b[g] = three(s + threadIdx.x);
}
__global__ void k3(const float *a, float *b, int n) { // conversions: short result, short parameter
  __shared__ float s[130];
  int t = threadIdx.x, g = gid();
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = narrow(s + t) + byval(s + t, 40000 + t);
}
__global__ void k4(const float *a, float *b, int n) { // conditional calls, loop with return
  __shared__ float s[130];
  int t = threadIdx.x, g = gid();
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = t > 3 ? three(s + t) : loopret(s + t);
}
__global__ void k5(const float *a, float *b, int n) { // early returns in the callee, order of effects
  __shared__ float s[130];
  int t = threadIdx.x, g = gid();
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  int i = t;
  if (g < n) { float v = pickg(s, i) + pickg(s, HALF(i)); b[g] = v; }
}
__global__ void k6(const float *a, float *b, int n) { // lambda with captures by copy and by reference
  __shared__ float s[130];
  int t = threadIdx.x, g = gid();
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  int off = 0;
  auto at = [&](int d) { return s[t + d] + (off + 1); };
  off = 1;
  if (g < n) b[g] = at(0) + at(1) + at(2);
}
__global__ void k7(const float *a, float *b, int n) { // by copy, changed later: stays
  __shared__ float s[130];
  int t = threadIdx.x, g = gid();
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  int off = 0;
  auto at = [=](int d) { return a[0] * off + d; };
  off = 1;
  if (g < n) b[g] = at(0) + s[t + 1] + off;
}
namespace other { __device__ const float kScale = 3.f; __device__ float sc(const float *w) { return w[0] * kScale + w[1]; } }
__global__ void k8(const float *a, float *b, int n) {
  __shared__ float s[130];
  int t = threadIdx.x, g = gid(); float kScale = 5.f;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = other::sc(s + t) * kScale;
}
template <typename T, int N> __device__ T sumw(const T *w) { T acc = T(0); for (int i = 0; i < N; ++i) acc += w[i]; return acc; }
template <typename T, int R> __global__ void k9(const T *a, T *b, int n) {
  __shared__ T s[128 + R];
  int t = threadIdx.x, g = gid();
  s[t] = g < n ? a[g] : T(0);
  if (t < R) s[t + 128] = g + 128 < n ? a[g + 128] : T(0);
  __syncthreads();
  if (g < n) b[g] = sumw<T, R + 1>(s + t);
}
int main() { for (int n : SIZES) { Buf<float> a(n), b(n); a.nums(3); b.nums(4); int gr = (n + 127) / 128;
  k1<<<gr, 128>>>(a.d, b.d, n); show("k1", b); k2<<<gr, 128>>>(a.d, b.d, n); show("k2", b); k3<<<gr, 128>>>(a.d, b.d, n); show("k3", b);
  k4<<<gr, 128>>>(a.d, b.d, n); show("k4", b); k5<<<gr, 128>>>(a.d, b.d, n); show("k5", b); k6<<<gr, 128>>>(a.d, b.d, n); show("k6", b);
  k7<<<gr, 128>>>(a.d, b.d, n); show("k7", b); k8<<<gr, 128>>>(a.d, b.d, n); show("k8", b); k9<float, 3><<<gr, 128>>>(a.d, b.d, n); show("k9", b);
  Buf<double> c(n), d(n); c.nums(3); d.nums(4); k9<double, 1><<<gr, 128>>>(c.d, d.d, n); show("k9d", d); } }
