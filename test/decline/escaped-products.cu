// Products that come to a sum on ways that are not followed, one by one (ProductEscapes.cpp): a
// name for a temporary, an assignment's value, bits, a pointer, a volatile variable, members that
// methods add up, conversions of classes, sums with zero, choices between a product and itself;
// and products scaled by numbers beside one that all threads have alike.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=off --list --cuda-path=%cuda 2>&1 \
// RUN:   | FileCheck %s
// RUN: rcache-check diff --device-code=nvcc %s %t.cu
//
// CHECK-DAG: declined temporary; fusion-unsettled
// CHECK-DAG: declined moved; fusion-unsettled
// CHECK-DAG: declined chained; fusion-unsettled
// CHECK-DAG: declined chainedVariable; fusion-unsettled
// CHECK-DAG: declined bits; fusion-unsettled
// CHECK-DAG: declined pun; fusion-unsettled
// CHECK-DAG: declined pointer; fusion-unsettled
// CHECK-DAG: rewritten kept: s; 1 output a thread; 's' kept shared;
// CHECK-DAG: declined memberwise; fusion-unsettled
// CHECK-DAG: declined method; fusion-unsettled
// CHECK-DAG: declined converted; fusion-unsettled
// CHECK-DAG: declined withZero; fusion-unsettled
// CHECK-DAG: declined chosen; fusion-unsettled
// CHECK-DAG: declined changed;
// CHECK-DAG: declined scaled; fusion-unsettled
// CHECK-DAG: declined scaledOfAll; fusion-unsettled
// CHECK-DAG: rewritten byValue
// CHECK-DAG: rewritten plainStruct
// CHECK-DAG: rewritten helper
// CHECK-DAG: rewritten larger
// CHECK-DAG: rewritten setTogether
#include <cstdio>

#define B 128
#define KERNEL(name, ...)                                                                   \
  __global__ void name(const float *__restrict__ a, float *__restrict__ o, int n, float v,  \
                       int m) {                                                             \
    __shared__ float s[B + 4];                                                              \
    const int t = threadIdx.x, g = blockIdx.x * B + t;                                      \
    s[t] = a[g];                                                                            \
    if (t < 4)                                                                              \
      s[B + t] = a[g + B];                                                                  \
    __syncthreads();                                                                        \
    __VA_ARGS__                                                                             \
  }
struct Pair {
  float a, b;
  __device__ Pair &operator+=(const Pair &p) {
    a += p.a;
    b += p.b;
    return *this;
  }
  __device__ float difference() const { return a - b; }
};
struct Box {
  float v;
  __device__ Box(float x) : v(x) {}
  __device__ operator float() const { return v; }
};
struct Plain {
  float a, b;
};
__device__ void addTo(float &x, const float &y) { x += y; }
__device__ float between(float x, float y, float w) { return x + w * (y - x); }

KERNEL(temporary, const float &x = a[0] * v; if (g < n) o[g] = x - s[t + 3] * v;)
KERNEL(moved, auto &&x = a[0] * v; float y = s[t + 3] * v; y += x; if (g < n) o[g] = y;)
KERNEL(chained, float x; float y = (x = a[0] * v) - s[t + 3] * v; if (g < n) o[g] = y;)
KERNEL(chainedVariable, float x, y; x = y = a[0] * v; if (g < n) o[g] = x + a[g] * s[t + 2];)
KERNEL(bits, float x = a[0] * v, y = __int_as_float(__float_as_int(x)); if (g < n) o[g] = y - s[t + 3] * v;)
KERNEL(pun, float x = a[0] * v, y = *(float *)&x; if (g < n) o[g] = y - s[t + 3] * v;)
KERNEL(pointer, float x = a[0] * v, *p = &x; if (g < n) o[g] = *p + s[t + 2] * a[g];)
KERNEL(kept, volatile float x = v * a[3]; if (g < n) o[g] = x - a[g] * s[t];)
KERNEL(memberwise, Pair x{a[1], s[t + 1] * a[1]}; x += Pair{s[t + 2], s[t] * s[t + 1]}; if (g < n) o[g] = x.b;)
KERNEL(method, Pair x{a[g] * v, s[t + 1] * s[t]}; if (g < n) o[g] = x.difference();)
KERNEL(converted, Box x(a[0] * v); float y = float(x) + a[g] * s[t + 1]; if (g < n) o[g] = y;)
KERNEL(withZero, if (g < n) o[g] = (s[t + 1] * s[t + 2] - 0.f) + v * a[0];)
KERNEL(chosen, float x = m > 2 ? fminf(s[t + 1] * s[t + 1], s[t + 1] * s[t + 1]) : (float)t; x += (float)t; if (g < n) o[g] = x;)
KERNEL(changed, float x = s[t + 3] * a[3], y = a[2] * v; addTo(x, y); if (g < n) o[g] = x;)
// One product is the same for all threads, and a number scales what they have alike.
KERNEL(scaled, float x = v / 4 * a[g], y = a[2] * v, r = x + y; if (g < n) o[g] = r * s[t + 1];)
KERNEL(scaledOfAll, float x = a[g] * a[t], y = (a[m] * 3.f) * a[m + 1], r = x; r += y; if (g < n) o[g] = r * s[t + 1];)
// What is followed.
KERNEL(byValue, if (g < n) o[g] = between(s[t], s[t + 1], v);)
KERNEL(plainStruct, Plain x; x.a = s[t + 1]; x.b = s[t + 2] + v; if (g < n) o[g] = x.a * v + x.b;)
KERNEL(helper, float x = 0; addTo(x, s[t + 1]); addTo(x, s[t + 3]); if (g < n) o[g] = x * v;)
KERNEL(larger, float x = g < n ? s[t] : -1.f, y = s[t + 2]; if (g < n) o[g] = fmaxf(x, y) - v * (float)t;)
KERNEL(setTogether, float x[2]; float y[2]; x[0] = y[0] = 0; x[1] = y[1] = a[g]; float r = x[0] + y[1]; r += s[t + 1] * v; if (g < n) o[g] = r + x[1];)

int main() {
  const int n = 4 * B;
  static float h[n + B];
  for (int i = 0; i < n + B; ++i)
    h[i] = float(i * 7919 % 1009) / 31 - 12.3f;
  float *a, *o;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&o, sizeof h);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemset(o, 0, sizeof h);
#define RUN(name) name<<<4, B>>>(a, o, n, 0.37f, 3);
  RUN(temporary) RUN(moved) RUN(chained) RUN(chainedVariable) RUN(bits) RUN(pun) RUN(pointer)
  RUN(kept) RUN(memberwise) RUN(method) RUN(converted) RUN(withZero) RUN(chosen) RUN(changed)
  RUN(scaled) RUN(scaledOfAll)
  RUN(byValue) RUN(plainStruct) RUN(helper) RUN(larger) RUN(setTogether)
  cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost);
  printf("%g\n", h[5]);
}
