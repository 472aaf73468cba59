// Loops that count from the thread's own index: a constant number of rounds is a
// window, whatever the first value and its type.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %t.cu -o %t.again.cu --cuda-path=%cuda -- -I%S/Inputs 2> /dev/null
// RUN: cmp %t.cu %t.again.cu
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS --implicit-check-not=warning %s %}
//
// CHECK-DAG: rewrote 'rel_int' {{.*}} registers
// CHECK-DAG: rewrote 'rel_unsigned' {{.*}} registers
// CHECK-DAG: rewrote 'rel_size' {{.*}} registers
// CHECK-DAG: rewrote 'rel_down' {{.*}} registers
// CHECK-DAG: rewrote 'gather4' {{.*}} registers
// CHECK-DAG: rewrote 'rel_guard' {{.*}} registers
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
//
#include "buffers.h"
#include <cstddef>
__global__ void rel_int(const float *x, float *y, int n) {
  __shared__ float s[128 + 6];
  int g = blockIdx.x * 128 + threadIdx.x, lid = threadIdx.x + 3;
  s[lid] = g < n ? x[g] : 0.f;
  if (threadIdx.x < 3) { s[lid - 3] = g >= 3 ? x[g - 3] : 0.f; s[lid + 128] = g + 128 < n ? x[g + 128] : 0.f; }
  __syncthreads();
  if (g >= n) return;
  float a = 0.f;
  for (int k = lid - 3; k <= lid + 3; ++k) a += s[k];
  y[g] = a;
}
__global__ void rel_unsigned(const int *x, int *y, unsigned n) {
  __shared__ int s[128 + 4];
  unsigned g = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = threadIdx.x; i < 132u; i += 128u) s[i] = blockIdx.x * 128u + i < n ? x[blockIdx.x * 128u + i] : 7;
  __syncthreads();
  int m = 0;
  for (unsigned j = threadIdx.x; j < threadIdx.x + 5u; j++) m = max(m, s[j] * (int)(j - threadIdx.x + 1));
  if (g < n) y[g] = m;
}
__global__ void rel_size(const float *x, float *y, size_t n) {
  __shared__ float s[128 + 6];
  const size_t g = (size_t)blockIdx.x * 128 + threadIdx.x;
  const size_t lid = threadIdx.x + (size_t)3;
  s[lid] = g < n ? x[g] : 0.f;
  if (threadIdx.x < 3) { s[lid - 3] = g >= 3 ? x[g - 3] : 0.f; s[lid + 128] = g + 128 < n ? x[g + 128] : 0.f; }
  __syncthreads();
  if (g >= n) return;
  float a = 0.f;
  for (size_t k = lid - 3; k <= lid + 3; ++k) a += s[k];
  y[g] = a;
}
__global__ void rel_down(const short *x, short *y, int n) {
  __shared__ short s[256 + 8];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  for (int i = t; i < 264; i += 256) { int q = blockIdx.x * 256 + i; s[i] = q < n ? x[q] : 0; }
  __syncthreads();
  int v = 0;
  for (int k = t + 8; k >= t; k -= 2) v = v * 2 + s[k];
  if (g < n) y[g] = v;
}
__global__ void gather4(const float *x, float *y, int m) {   // each thread its own run of 4
  __shared__ float s[512];
  int t = threadIdx.x;
  for (int i = t; i < 512; i += 128) s[i] = x[blockIdx.x * 512 + i];
  __syncthreads();
  float v = 0;
  for (int i = 4 * t; i < 4 * t + 4; i++) v += s[i];
  y[blockIdx.x * 128 + t] = v;
}
__global__ void rel_guard(const float *x, float *y, int n) {
  extern __shared__ float d[];
  int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  d[t] = g < n ? x[g] : 0.f;
  __syncthreads();
  if (t < 2 || t >= blockDim.x - 2 || g >= n) return;
  float v = 0.f;
  for (int q = t - 2; q < t + 3; q++) v += d[q] * (q == t ? 2.f : 1.f);
  y[g] = v;
}
int main() {
  for (int n : SIZES) {
    Buf<float> a(n), b(n); a.nums(3); b.nums(9);
    rel_int<<<(n + 127) / 128, 128>>>(a.d, b.d, n); show("ri", b);
    rel_size<<<(n + 127) / 128, 128>>>(a.d, b.d, n); show("rs", b);
    Buf<int> c(n), d(n); c.nums(3);
    rel_unsigned<<<(n + 127) / 128, 128>>>(c.d, d.d, n); show("ru", d);
    Buf<short> h(n, 3), i(n); rel_down<<<(n + 255) / 256, 256>>>(h.d, i.d, n); show("rd", i);
    if (n >= 512) { gather4<<<n / 512, 128>>>(a.d, b.d, n); show("g4", b); }
    for (int bs : {64, 128, 96}) { rel_guard<<<(n + bs - 1) / bs, bs, bs * 4>>>(a.d, b.d, n); show("rg", b); }
  }
}
