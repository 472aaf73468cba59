// Arrays that stay in shared memory, several outputs a thread, and threads that have
// returned or wait behind a condition: where it does no harm the loop runs for all
// slots, and the test stands at loads and stores only.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck --check-prefix=REMARK %s < %t.remarks
// RUN: FileCheck %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
//
// REMARK-DAG: rewrote 'nearest'
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
#include "buffers.h"

// Each element read is one of the array: no test in the loop.
// CHECK-LABEL: void nearest_{{rc}}(
// CHECK: float px[{{[0-9]+}}] = {};
// CHECK: for (int k = 0; k < 64; ++k) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT: for (int rc_s
// CHECK-NEXT: float d =
// CHECK: if (i >= n)
// CHECK-NEXT: continue;
// CHECK-NEXT: lab[i] =
__global__ void nearest(const float *pts, const float *cent, int *lab, int n) {
  __shared__ float c[64];
  if (threadIdx.x < 64) c[threadIdx.x] = cent[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 64) c[threadIdx.x] *= 0.5f;
  __syncthreads();
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  float px = pts[i], best = 1e30f; int b = 0;
  for (int k = 0; k < 64; ++k) {
    float d = (px - c[k]) * (px - c[k]);
    if (d < best) { best = d; b = k; }
  }
  lab[i] = b;
}

// How many there are only the launch knows: not for a thread none of whose slots is
// left.
// CHECK-LABEL: void some_{{rc}}(
// CHECK: bool rc_any = false;
// CHECK: rc_any |= !(i >= n);
// CHECK: if (rc_any) {
// CHECK: for (int k = 0; k < m; ++k) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT: for (int rc_s
// CHECK-NEXT: float d =
// CHECK: if (i >= n)
// CHECK-NEXT: continue;
// CHECK-NEXT: lab[i] =
__global__ void some(const float *pts, const float *cent, int *lab, int n, int m) {
  __shared__ float c[64];
  for (int q = threadIdx.x; q < m; q += 256) c[q] = cent[q];
  __syncthreads();
  for (int q = threadIdx.x; q < m; q += 256) c[q] *= 0.5f;
  __syncthreads();
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  float px = pts[i], best = 1e30f; int b = 0;
  for (int k = 0; k < m; ++k) {
    float d = fabsf(px - c[k]);
    if (d < best) { best = d; b = k; }
  }
  lab[i] = b;
}

// A condition around the loop in a loop over tiles.
// CHECK-LABEL: void tiles_{{rc}}(
// CHECK: for (int k = 0; k < 128; ++k) {
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT: for (int rc_s
// CHECK-NEXT: acc[rc_s] +=
// CHECK: __syncthreads();
__global__ void tiles(const float *x, float *f, int n) {
  __shared__ float s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  float xi = i < n ? x[i] : 0.f, acc = 0.f;
  for (int t = 0; t < n; t += 128) {
    s[threadIdx.x] = t + threadIdx.x < n ? x[t + threadIdx.x] : 0.f;
    __syncthreads();
    if (i < n)
      for (int k = 0; k < 128; ++k) acc += (s[k] - xi) * 0.5f;
    __syncthreads();
  }
  if (i < n) f[i] = acc;
}

// What follows is tested in each round. An element of the thread's own:
// CHECK-LABEL: void own_{{rc}}(
// CHECK: for (int k = 0; k < 12; ++k) {
// CHECK: continue;
// CHECK: o[i] =
__global__ void own(const int *a, int *o, int n) {
  __shared__ int s[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? a[i] : 1;
  __syncthreads();
  if (threadIdx.x > 9) s[threadIdx.x] += 3;
  __syncthreads();
  if (threadIdx.x >= 244) return;
  int v = a[i < n ? i : 0];
  for (int k = 0; k < 12; ++k) v = v * 3 + s[threadIdx.x + k] * s[k];
  if (i < n) o[i] = v;
}

// A number that may be 0 where the thread has returned:
// CHECK-LABEL: void divided_{{rc}}(
// CHECK: for (int k = 0; k < 32; ++k) {
// CHECK: continue;
// CHECK: o[i] =
__global__ void divided(const int *a, const int *b, int *o, int n) {
  __shared__ int s[32];
  if (threadIdx.x < 32) s[threadIdx.x] = a[threadIdx.x % n];
  __syncthreads();
  if (threadIdx.x < 32) s[threadIdx.x] += 3;
  __syncthreads();
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  int d = (b[i] & 7) + 1, v = 0;
  for (int k = 0; k < 32; ++k) v += s[k] / d;
  o[i] = v;
}

// A place that hangs on data:
// CHECK-LABEL: void looked_up_{{rc}}(
// CHECK: for (int k = 0; k < 8; ++k) {
// CHECK: continue;
// CHECK: o[i] =
__global__ void looked_up(const int *a, const int *b, int *o, int n) {
  __shared__ int s[64];
  if (threadIdx.x < 64) s[threadIdx.x] = a[threadIdx.x % n];
  __syncthreads();
  if (threadIdx.x < 32) s[threadIdx.x] += 3;
  __syncthreads();
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  int at = b[i] & 31, v = 0;
  for (int k = 0; k < 8; ++k) v += s[at + k] * (k + 1) + s[k];
  o[i] = v;
}

// An assertion that only those that are left have to meet, and a window.
// CHECK-LABEL: void asserted_{{rc}}(
// CHECK: if (i >= n)
// CHECK-NEXT: continue;
// CHECK: __assert_fail
#include <cassert>
__global__ void asserted(const float *a, float *o, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? a[i] + 1.f : -1.f;
  __syncthreads();
  if (i >= n) return;
  float v = s[threadIdx.x] * 2.f;
  assert(v > 0.f);
  o[i] = v;
}

// The mean of those inside: where there is none nobody asks for it.
// CHECK-LABEL: void mean_{{rc}}(
// CHECK: continue;
// CHECK: sum / count
__global__ void mean(const int *a, int *o, int n) {
  __shared__ int s[130];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  for (int q = t; q < 130; q += 128) {
    int g = (int)blockIdx.x * 128 + q - 1;
    s[q] = g >= 0 && g < n ? a[g] & 255 : -1;
  }
  __syncthreads();
  if (i >= n) return;
  int sum = 0, count = 0;
  for (int k = 0; k < 3; ++k) {
    sum += s[t + k] >= 0 ? s[t + k] : 0;
    count += s[t + k] >= 0 ? 1 : 0;
  }
  o[i] = sum / count;
}

// A condition that begins with `!`, which is not all of it.
__global__ void masked(const float *a, float *o, int n, bool on) {
  __shared__ float s[258];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  for (int q = t; q < 258; q += 256) {
    int g = (int)blockIdx.x * 256 + q - 1;
    s[q] = g >= 0 && g < n ? a[g] : 0.f;
  }
  __syncthreads();
  if (!on || i >= n) return;
  o[i] = s[t] + s[t + 1] + s[t + 2];
}

int main() {
  for (int n : SIZES) {
    Buf<float> a(n), c(64), o(n); a.nums(3); c.nums(5); Buf<int> p(n), b(n), l(n); p.nums(3); b.nums(4); l.nums(9);
    int g = (n + 255) / 256, h = (n + 127) / 128;
    nearest<<<g, 256>>>(a.d, c.d, l.d, n); show("nearest", l);
    for (int m : {1, 5, 64}) { some<<<g, 256>>>(a.d, c.d, l.d, n, m); show("some", l); }
    some<<<3, 256>>>(a.d, c.d, l.d, 0, 0); show("none", l);
    tiles<<<h, 128>>>(a.d, o.d, n); show("tiles", o);
    own<<<g, 256>>>(p.d, l.d, n); show("own", l);
    divided<<<h, 128>>>(p.d, b.d, l.d, n); show("divided", l);
    looked_up<<<h, 128>>>(p.d, b.d, l.d, n); show("looked_up", l);
    asserted<<<g, 256>>>(a.d, o.d, n); show("asserted", o);
    for (bool on : {false, true}) { masked<<<g, 256>>>(a.d, o.d, n, on); show("masked", o); }
    mean<<<h, 128>>>(p.d, l.d, n); show("mean", l);
  }
}
