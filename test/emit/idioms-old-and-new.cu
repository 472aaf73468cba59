// Idioms of older and newer code: products of 24 bits, a switch over the reads,
// references to elements, a pointer that may be null, values kept in structs.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %t.cu -o %t.again.cu --cuda-path=%cuda -- -I%S/Inputs 2> /dev/null
// RUN: cmp %t.cu %t.again.cu
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
//
// CHECK-DAG: rewrote 'rowFilter'
// CHECK-DAG: rewrote 'umad'
// CHECK-DAG: rewrote 'sw2'
// CHECK-DAG: rewrote 'byReference'
// CHECK-DAG: rewrote 'fallThrough'
// CHECK-DAG: rewrote 'opt'
// CHECK-DAG: rewrote 'window3<MaxOp>'
// CHECK-DAG: rewrote 'dist_min'
// CHECK-DAG: rewrote 'bounded_radius'
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
//
#include "buffers.h"
#define IMUL(a, b) __mul24(a, b)
#define UMAD(a, b, c) (__umul24((a), (b)) + (c))
#define KR 8
#define MAXR 16
__constant__ float cK[2 * KR + 1];
__global__ void rowFilter(float *d_Result, float *d_Data, int dataW) {
  __shared__ float data[KR + 128 + KR];
  const int tileStart = IMUL(blockIdx.x, 128);
  const int tileEnd = tileStart + 128 - 1;
  const int apronStart = tileStart - KR, apronEnd = tileEnd + KR;
  const int tileEndClamped = min(tileEnd, dataW - 1);
  const int apronStartClamped = max(apronStart, 0), apronEndClamped = min(apronEnd, dataW - 1);
  for (int p = threadIdx.x; p < 128 + 2 * KR; p += 128) {
    const int loadPos = apronStart + p;
    data[p] = ((loadPos >= apronStartClamped) && (loadPos <= apronEndClamped)) ? d_Data[loadPos] : 0;
  }
  __syncthreads();
  const int writePos = tileStart + threadIdx.x;
  if (writePos <= tileEndClamped) {
    const int smemPos = writePos - apronStart;
    float sum = 0;
    for (int k = -KR; k <= KR; k++) sum += data[smemPos + k] * cK[KR - k];
    d_Result[writePos] = sum;
  }
}
__global__ void umad(const int *a, int *b, int n) {
  __shared__ int s[256 + 1];
  const unsigned ix = UMAD(blockIdx.x, blockDim.x, threadIdx.x);
  if (ix < n) s[threadIdx.x] = a[ix];
  if (threadIdx.x == 0 && ix + 256 < n) s[256] = a[ix + 256];
  __syncthreads();
  if (ix + 1 < n) b[ix] = s[threadIdx.x + 1] - s[threadIdx.x];
}
enum Mode { FORWARD, BACKWARD, CENTRAL };
__global__ void sw2(const double *a, double *b, int n, Mode mode) {
  __shared__ double s[130];
  int t = threadIdx.x + 1, i = blockIdx.x * 128 + threadIdx.x;
  s[t] = i < n ? a[i] : 0.;
  if (threadIdx.x == 0) s[0] = i > 0 ? a[i - 1] : 0.;
  if (threadIdx.x == 127) s[129] = i + 1 < n ? a[i + 1] : 0.;
  __syncthreads();
  if (i >= n) return;
  switch (mode) {
  case FORWARD: b[i] = s[t + 1] - s[t]; break;
  case BACKWARD: b[i] = s[t] - s[t - 1]; break;
  case CENTRAL: { double d = s[t + 1] - s[t - 1]; b[i] = 0.5 * d; } break;
  }
}
__global__ void byReference(const float *a, float *b, int n) {
  __shared__ float s[130];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int i = t; i < 130; i += 128) {
    int q = (int)blockIdx.x * 128 + i - 1;
    float &e = s[i];
    e = q >= 0 && q < n ? a[q] : 0.f;
  }
  __syncthreads();
  if (g < n) {
    const float &c = s[t + 1];
    float acc = c;
    b[g] = acc + s[t] + s[t + 2] * c;
  }
}
// Cases that run into each other, a return in one.
__global__ void fallThrough(const int *a, int *b, int n, int k) {
  __shared__ int s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = i < n ? a[i] : 0;
  __syncthreads();
  int v = 0;
  switch (threadIdx.x % 4) {
  case 3: v += s[127 - threadIdx.x];
  case 2: v += s[threadIdx.x];
  case 1: if (i < n) b[i] = v; break;
  default: if (i < n) b[i] = -s[threadIdx.x ^ 1]; break;
  }
  switch (k) { case 1: return; }
  if (i < n && v > 50) b[i] += s[threadIdx.x];
}
__global__ void opt(const float *in, const float *w, float *out, int n, float scale) {
  __shared__ float s[130];
  int t = threadIdx.x + 1, i = blockIdx.x * 128 + threadIdx.x;
  float v = i < n ? in[i] : 0.f;
  if (w != nullptr && i < n) v *= w[i];
  s[t] = v;
  if (threadIdx.x == 0) s[0] = i > 0 ? in[i - 1] * (w != NULL ? w[i - 1] : 1.f) : 0.f;
  if (threadIdx.x == 127) s[129] = i + 1 < n ? in[i + 1] * (!w ? 1.f : w[i + 1]) : 0.f;
  __syncthreads();
  if (i >= n) return;
  float r = s[t - 1] + s[t + 1];
  if (scale) r *= scale;
  if (out) out[i] = r;
}
struct MaxOp { __device__ float operator()(float a, float b) const { return a > b ? a : b; } };
template <class Op> __global__ void window3(const float *a, float *b, int n, Op op, float init) {
  __shared__ float s[130];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t + 1] = i < n ? a[i] : init;
  if (t == 0) s[0] = i > 0 ? a[i - 1] : init;
  if (t == 127) s[129] = i + 1 < n ? a[i + 1] : init;
  __syncthreads();
  if (i < n) b[i] = op(op(s[t], s[t + 1]), s[t + 2]);
}
__global__ void dist_min(const float *p, const float *q, float *best, int np, int nq) {
  __shared__ float sq[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  float x = i < np ? p[i] : 0.0f, m = 1e30f;
  for (int j0 = 0; j0 < nq; j0 += 64) {
    int lim = min(64, nq - j0);
    if (threadIdx.x < lim) sq[threadIdx.x] = q[j0 + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < lim; ++j) { float d = x - sq[j]; m = fminf(m, d * d); }
    __syncthreads();
  }
  if (i < np) best[i] = m;
}
__global__ void bounded_radius(const float *a, float *b, int n, int r) {
  __shared__ float s[128 + 2 * MAXR];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int k = t; k < 128 + 2 * r; k += 128) {
    int q = (int)(blockIdx.x * 128) + k - r;
    s[k] = q >= 0 && q < n ? a[q] : 0.f;
  }
  __syncthreads();
  if (g < n) {
    float acc = 0.f;
    for (int k = 0; k <= 2 * r; ++k) acc += s[t + k];
    b[g] = acc;
  }
}
int main() {
  float hk[17]; for (int i = 0; i < 17; ++i) hk[i] = i * .25f; cudaMemcpyToSymbol(cK, hk, sizeof hk);
  for (int n : SIZES) {
    Buf<float> a(n), b(n), c(n); a.nums(3); b.nums(9); c.nums(5);
    int g = (n + 127) / 128;
    rowFilter<<<g, 128>>>(b.d, a.d, n); show("row", b);
    Buf<int> p(n), q(n); p.nums(3); umad<<<(n + 255) / 256, 256>>>(p.d, q.d, n); show("umad", q);
    Buf<double> u(n), v(n); u.nums(3);
    for (int m = 0; m < 3; ++m) { sw2<<<g, 128>>>(u.d, v.d, n, Mode(m)); show("sw2", v); }
    byReference<<<g, 128>>>(a.d, b.d, n); show("ref", b);
    for (int k = 0; k < 2; ++k) { fallThrough<<<g, 128>>>(p.d, q.d, n, k); show("fall", q); }
    opt<<<g, 128>>>(a.d, nullptr, b.d, n, 0.f); show("opt", b);
    opt<<<g, 128>>>(a.d, c.d, b.d, n, 2.f); show("opt", b);
    window3<<<g, 128>>>(a.d, b.d, n, MaxOp(), -1e30f); show("max", b);
    dist_min<<<(n + 63) / 64, 64>>>(a.d, c.d, b.d, n, n / 2 + 1); show("dist", b);
    bounded_radius<<<g, 128>>>(a.d, b.d, n, 5); show("br", b);
  }
}
