// Loops, references, masks and switches in combination: counters used behind their
// loop, relative loops inside each other, early reads in a loop over tiles.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
//
// CHECK-DAG: rewrote 'rel2'
// CHECK-DAG: rewrote 'rel3'
// CHECK-DAG: rewrote 'rel4'
// CHECK-DAG: rewrote 'rel5'
// CHECK-DAG: rewrote 'early_tile'
// CHECK-DAG: rewrote 'wh2'
// CHECK-DAG: rewrote 'wh3'
// CHECK-DAG: rewrote 'u24'
// CHECK-DAG: rewrote 'swst'
// CHECK-DAG: rewrote 'masks'
// A reference that lives across a barrier may see two values.
// CHECK-DAG: 'refs' left as it is: {{.*}} [unsupported-statement]
// CHECK-DAG: 'refs2' left as it is: {{.*}} [unsupported-statement]
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
//
#include "buffers.h"
__global__ void rel2(const float *a, float *b, int n) { // nested relative loops, inner depends on outer
  __shared__ float s[128 + 12];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  for (int k = t; k < 140; k += 128) { int q = (int)blockIdx.x * 128 + k - 6; s[k] = q >= 0 && q < n ? a[q] : 0.f; }
  __syncthreads();
  float r = 0.f;
  for (int c = t; c < t + 3; ++c) {
    float m = 0.f;
    for (int d = c; d <= c + 2 * 2; d += 2) m += s[d] * (d - c + 1);
    r = r * 0.5f + m;
  }
  if (i < n) b[i] = r;
}
__global__ void rel3(const int *a, int *b, int n) { // iterator used for output index and in a condition
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = blockIdx.x * 128 + t < n ? a[blockIdx.x * 128 + t] : 0;
  __syncthreads();
  if (t % 4 == 0)
    for (int q = t; q < t + 4; q++) {
      int i = blockIdx.x * 128 + q;
      if (i < n && q != t + 2) b[i] = s[q] + q;
    }
}
__global__ void rel4(const float *a, float *b, int n) { // continue / break in a relative loop
  __shared__ float s[128 + 4];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  for (int k = t; k < 132; k += 128) { int q = blockIdx.x * 128 + k; s[k] = q < n ? a[q] : -1.f; }
  __syncthreads();
  float v = 0.f; int cnt = 0;
  for (int q = t; q < t + 5; q++) {
    if (s[q] < 20.f) continue;
    if (s[q] > 110.f) break;
    v += s[q]; ++cnt;
  }
  if (i < n) b[i] = cnt ? v / cnt : -1.f;
}
__global__ void rel5(const float *a, float *b, int n) { // counts from the block's base
  __shared__ float s[64];
  int base = blockIdx.x * 64, t = threadIdx.x;
  s[t] = base + t < n ? a[base + t] : 0.f;
  __syncthreads();
  float v = 0.f;
  for (int j = base; j < base + 64; ++j) if (j < n) v += s[j - base] * (float)(j % 7);
  if (base + t < n) b[base + t] = v + s[t];
}
__global__ void early_tile(float *a, int n) { // in place, tile loop, early reads with return before
  __shared__ float s[64];
  for (int tile = blockIdx.x; tile * 64 < n; tile += gridDim.x) {
    int i = tile * 64 + threadIdx.x;
    s[threadIdx.x] = i < n ? a[i] : 1.f;
    __syncthreads();
    float v = s[threadIdx.x ^ 1] + s[(threadIdx.x + 5) % 64] * s[threadIdx.x / 2];
    __syncthreads();
    if (i < n) a[i] = v;
  }
}
__global__ void wh2(const float *a, float *b, int n) { // two counters, post increment in body end
  __shared__ float s[128 + 8];
  int k = threadIdx.x, g = blockIdx.x * 128 + threadIdx.x;
  while (k < 136) {
    s[k] = g < n ? a[g] : 0.f;
    g += 128;
    k += 128;
  }
  __syncthreads();
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) b[i] = s[threadIdx.x] + s[threadIdx.x + 8];
}
__global__ void wh3(const float *a, float *b, int n) { // counter used after the loop
  __shared__ float s[256];
  int k = threadIdx.x;
  while (k < 256) { s[k] = blockIdx.x * 256 + k < n ? a[blockIdx.x * 256 + k] : 0.f; k += blockDim.x; }
  __syncthreads();
  int i = blockIdx.x * 256 + k - 256; // k = 256 + t
  if (k - 256 == threadIdx.x && i < n) b[i] = s[k - 256] * 2.f;
  if (i + 128 < n) b[i + 128] = s[threadIdx.x + 128];
}
__global__ void refs(const float *a, float *b, int n) { // a reference across a barrier
  __shared__ float s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  float &mine = s[threadIdx.x];
  const float &other = s[127 - threadIdx.x];
  mine = i < n ? a[i] : 0.f;
  __syncthreads();
  float v = other;
  if (i < n) b[i] = v + other * mine;
}
__global__ void refs2(const float *a, float *b, int n) { // seen through the reference after a change
  __shared__ float s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = i < n ? a[i] : 0.f;
  __syncthreads();
  const float &other = s[127 - threadIdx.x];
  float x = other;
  __syncthreads();
  s[threadIdx.x] = x + 1.f;
  __syncthreads();
  if (i < n) b[i] = other - x;
}
__global__ void u24(const int *a, int *b, int n) {
  __shared__ int s[64 + 1];
  int i = __mul24(blockIdx.x, blockDim.x) + threadIdx.x;
  s[threadIdx.x] = i < n ? a[i] : 0;
  if (threadIdx.x == 63) s[64] = i + 1 < n ? a[i + 1] : 0;
  __syncthreads();
  if (i < n) b[i] = s[threadIdx.x + 1] - s[threadIdx.x];
}
__global__ void swst(const float *a, float *b, int n, int mode) { // switch decides the source index
  __shared__ float s[130];
  int t = threadIdx.x;
  for (int k = t; k < 130; k += 128) {
    int q = (int)blockIdx.x * 128 + k - 1;
    switch (mode) { case 0: q = max(q, 0); break; case 1: q = q < 0 ? n - 1 : q; break; default: q = q < 0 ? 1 % n : q; }
    s[k] = a[min(q, n - 1)];
  }
  __syncthreads();
  int i = blockIdx.x * 128 + t;
  if (i < n) b[i] = s[t] + s[t + 2];
}
__global__ void masks(const int *a, int *b, int n) {
  __shared__ int s[256];
  unsigned t = threadIdx.x; int i = blockIdx.x * 256 + t;
  s[t] = i < n ? a[i] : 0;
  __syncthreads();
  int v = s[t & ~7u] + s[t & 0xF0u] + s[(t & 0x0F) | 0x10] + s[t & 0xC3] - s[(t + 3u) & 255u] + s[~t & 255u];
  if (i < n) b[i] = v;
}
int main() {
  for (int n : SIZES) {
    Buf<float> a(n), b(n); a.nums(3); b.nums(9); Buf<int> p(n), q(n); p.nums(3); q.nums(4);
    int g = (n + 127) / 128;
    rel2<<<g, 128>>>(a.d, b.d, n); show("rel2", b);
    rel3<<<g, 128>>>(p.d, q.d, n); show("rel3", q);
    rel4<<<g, 128>>>(a.d, b.d, n); show("rel4", b);
    rel5<<<(n + 63) / 64, 64>>>(a.d, b.d, n); show("rel5", b);
    wh2<<<g, 128>>>(a.d, b.d, n); show("wh2", b);
    wh3<<<(n + 255) / 256, 128>>>(a.d, b.d, n); show("wh3", b);
    refs<<<g, 128>>>(a.d, b.d, n); show("refs", b);
    refs2<<<g, 128>>>(a.d, b.d, n); show("refs2", b);
    u24<<<(n + 63) / 64, 64>>>(p.d, q.d, n); show("u24", q);
    for (int m = 0; m < 3; ++m) { swst<<<g, 128>>>(a.d, b.d, n, m); show("swst", b); }
    masks<<<(n + 255) / 256, 256>>>(p.d, q.d, n); show("masks", q);
    early_tile<<<3, 64>>>(a.d, n); show("et", a);
  }
}
