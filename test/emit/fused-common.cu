// A product with two uses in one output is fused with none or with both sums, as
// the original's: each output's products are its own, and are one where they were.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu
// RUN: %nvcc -std=c++17 -Werror all-warnings -ptx %t.cu -o %t.ptx
// RUN: %clang-cuda -std=c++17 -c %t.cu -o %t.o2
// Four outputs a thread: four times the operations of the original, which has a
// product and two sums fused with another one, and one of each and a sum.
// RUN: %nvcc -std=c++17 -ptx %t.cu -o %t.ptx
// RUN: sed -n '/entry.*speeds_rc/,/^}/p' %t.ptx | grep -oE '(mul|fma.rn).f32' | sort | uniq -c | FileCheck --check-prefix=SPEEDS %s
// SPEEDS: 8 fma.rn
// SPEEDS-NEXT: {{ }}4 mul
// RUN: sed -n '/entry.*places_rc/,/^}/p' %t.ptx | grep -oE '(mul|fma.rn).f32' | sort | uniq -c | FileCheck --check-prefix=PLACES %s
// PLACES: {{ }}8 mul
// Which of two products is taken hangs on what is loaded first.
// RUN: sed -n '/entry.*reused_rc/,/^}/p' %t.ptx | grep -oE '(mul|fma.rn).f32.*' | FileCheck --check-prefix=REUSED %s
// REUSED: mul.f32 [[P:%f[0-9]+]], [[W:%f[0-9]+]], %f
// REUSED-NEXT: fma.rn.f32 %f{{[0-9]+}}, %f{{[0-9]+}}, %f{{[0-9]+}}, [[P]]
//
// CHECK-DAG: rewrote 'speeds' (1 launch): 4 outputs a thread
// CHECK-DAG: rewrote 'places' (1 launch): 4 outputs a thread
// CHECK-DAG: rewrote 'reused' (1 launch): 4 outputs a thread
// A product that all outputs have: with several of them a thread, it has other uses.
// CHECK-DAG: rewrote 'twice' (1 launch): 1 output a thread
// TEXT: What each output sees of it
// TEXT: rc_s_w_of[4][6]
#include <cstdio>
#include <vector>
#define TILE                                                                    \
  __shared__ float s[258];                                                      \
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;                          \
  s[t + 1] = g < n ? a[g] : 0.f;                                                \
  if (t == 0)                                                                   \
    s[0] = g > 0 ? a[g - 1] : 0.f;                                              \
  if (t == 255)                                                                 \
    s[257] = g + 1 < n ? a[g + 1] : 0.f;                                        \
  __syncthreads();

// Of a lattice-Boltzmann step.
__global__ void speeds(const float *__restrict__ a, float *__restrict__ b, int n) {
  TILE
  if (g < n) {
    const float ux = s[t] - s[t + 1], uy = s[t + 2] - s[t + 1];
    const float usq = ux * ux + uy * uy;
    b[g] = (ux * ux) * 4.5f + usq;
  }
}
// One product of two outputs: to one it is a difference's, to the other it is not.
__global__ void places(const float *__restrict__ a, float *__restrict__ b, float w,
                       int n) {
  TILE
  if (g < n)
    b[g] = fabsf(w * s[t]) - w * s[t + 1];
}
// Of parameters alone: nothing here can be a window's.
__global__ void twice(const float *__restrict__ a, float *__restrict__ b, float w,
                      float v, int n) {
  TILE
  if (g < n)
    b[g] = (w * v + s[t] * s[t + 1]) * (w * v);
}
// The first value read is in the second product.
__global__ void reused(const float *__restrict__ a, float *__restrict__ b, float w,
                       int n) {
  TILE
  if (g < n) {
    const float u = s[t + 1];
    b[g] = s[t] * s[t + 2] + u * w;
  }
}
int main() {
  const int n = 5000;
  std::vector<float> h(n);
  unsigned x = 1;
  for (auto &v : h) {
    x = x * 1664525u + 1013904223u;
    v = float(int(x >> 8) - (1 << 23)) * 1.1920929e-7f;
  }
  float *a, *b;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
  speeds<<<(n + 255) / 256, 256>>>(a, b, n);
  places<<<(n + 255) / 256, 256>>>(a, b, 0.3f, n);
  reused<<<(n + 255) / 256, 256>>>(a, b, 0.3f, n);
  twice<<<(n + 255) / 256, 256>>>(a, b, 0.3f, 1.7f, n);
  return cudaDeviceSynchronize();
}
