// Element types from one byte to thirty-two: vectors are made of whole elements
// only, and never of types that do not fit (three, twelve or 32 bytes).
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
//
// CHECK-DAG: rewrote 'copyshift<double, 128>'
// CHECK-DAG: rewrote 'copyshift<char, 256>'
// CHECK-DAG: rewrote 'half_avg'
// CHECK-DAG: rewrote 'bf_to_float'
// CHECK-DAG: rewrote 'char_edges'
// CHECK-DAG: rewrote 'short_fir'
// CHECK-DAG: rewrote 'part'
// CHECK-DAG: rewrote 'rgbblur'
// CHECK-DAG: rewrote 'second'
// CHECK-DAG: rewrote 'd4'
// CHECK-DAG: rewrote 'boolmask'
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
//
#include "buffers.h"
#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <class T, int B> __global__ void copyshift(const T *in, T *out, int n) {
  __shared__ T s[B + 1];
  int i = blockIdx.x * B + threadIdx.x;
  if (i < n) s[threadIdx.x] = in[i];
  if (threadIdx.x == 0 && (blockIdx.x + 1) * B < n) s[B] = in[(blockIdx.x + 1) * B];
  __syncthreads();
  if (i < n - 1) out[i] = s[threadIdx.x + 1];
}
__global__ void half_avg(const __half *in, __half *out, int n) {
  __shared__ __half s[258];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t + 1] = i < n ? in[i] : __float2half(0.f);
  if (t == 0) s[0] = i > 0 ? in[i - 1] : __float2half(0.f);
  if (t == 255) s[257] = i + 1 < n ? in[i + 1] : __float2half(0.f);
  __syncthreads();
  if (i < n) out[i] = __hadd(__hadd(s[t], s[t + 1]), s[t + 2]);
}
__global__ void bf_to_float(const __nv_bfloat16 *in, float *out, int n) {
  __shared__ float s[128 + 4];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  for (int j = t; j < 132; j += 128) { int g = blockIdx.x * 128 + j - 2; s[j] = g >= 0 && g < n ? __bfloat162float(in[g]) : 0.f; }
  __syncthreads();
  if (i < n) out[i] = s[t] + s[t + 1] + s[t + 2] + s[t + 3] + s[t + 4];
}
__global__ void char_edges(const char *text, int *flags, int n) {
  __shared__ char s[257];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (i < n) s[t + 1] = text[i];
  if (t == 0) s[0] = i ? text[i - 1] : 0;
  __syncthreads();
  if (i < n) flags[i] = s[t + 1] != s[t];
}
__global__ void short_fir(const short *in, int *out, int n) {
  __shared__ short s[128 + 7];
  int t = threadIdx.x;
  int i = blockIdx.x * 128 + t;
  s[t] = i < n ? in[i] : 0;
  if (t < 7) s[t + 128] = i + 128 < n ? in[i + 128] : 0;
  __syncthreads();
  if (i < n) {
    int a = 0;
    for (int k = 0; k < 8; k++) a += s[t + k] * (8 - k);
    out[i] = a;
  }
}
struct __align__(16) Particle { float x, y, z; int id; };
__global__ void part(const Particle *p, float *e, int n) {
  __shared__ Particle sp[128 + 2];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  if (i < n) sp[t + 1] = p[i];
  if (t == 0 && i > 0) sp[0] = p[i - 1];
  if (t == 127 && i + 1 < n) sp[129] = p[i + 1];
  __syncthreads();
  if (i > 0 && i < n - 1) {
    float dx = sp[t + 2].x - sp[t].x, dy = sp[t + 2].y - sp[t].y, dz = sp[t + 2].z - sp[t].z;
    e[i] = dx * dx + dy * dy + dz * dz + (float)sp[t + 1].id;
  }
}
struct Rgb { unsigned char r, g, b; };
__global__ void rgbblur(const Rgb *p, Rgb *q, int n) {
  __shared__ Rgb s[256 + 2];
  int t = threadIdx.x + 1, i = blockIdx.x * 256 + threadIdx.x;
  int c = min(i, n - 1);
  s[t] = p[c];
  if (threadIdx.x == 0) s[0] = p[max(i - 1, 0)];
  if (threadIdx.x == 255) s[257] = p[min(i + 1, n - 1)];
  __syncthreads();
  if (i >= n) return;
  Rgb o;
  o.r = (s[t - 1].r + s[t].r + s[t + 1].r) / 3;
  o.g = (s[t - 1].g + s[t].g + s[t + 1].g) / 3;
  o.b = (s[t - 1].b + s[t].b + s[t + 1].b) / 3;
  q[i] = o;
}
struct Int3 { int x, y, z; };
__global__ void second(const Int3 *p, Int3 *q, int n) {
  __shared__ Int3 s[128 + 2];
  int t = threadIdx.x + 1, i = blockIdx.x * 128 + threadIdx.x;
  s[t] = p[min(i, n - 1)];
  if (threadIdx.x == 0) s[0] = p[max(i - 1, 0)];
  if (threadIdx.x == 127) s[129] = p[min(i + 1, n - 1)];
  __syncthreads();
  if (i < n) q[i] = Int3{s[t - 1].x - 2 * s[t].x + s[t + 1].x, s[t - 1].y - s[t + 1].y, s[t].z};
}
__global__ void d4(const double4 *a, double *b, int n) {
  __shared__ double4 s[33];
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) s[threadIdx.x] = a[i];
  if (threadIdx.x == 31 && i + 1 < n) s[32] = a[i + 1];
  __syncthreads();
  if (i < n - 1) b[i] = s[threadIdx.x + 1].w - s[threadIdx.x].x;
}
__global__ void boolmask(const bool *m, int *o, int n) {
  __shared__ bool s[128 + 2];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t + 1] = i < n && m[i];
  if (t < 2) { int g = t ? (blockIdx.x + 1) * 128 : (int)blockIdx.x * 128 - 1; s[t ? 129 : 0] = g >= 0 && g < n && m[g]; }
  __syncthreads();
  if (i < n) o[i] = s[t] && s[t + 1] && s[t + 2];
}
int main() {
  for (int n : SIZES) {
    Buf<double> a(n), b(n); a.nums(3); b.nums(9); copyshift<double, 128><<<(n + 127) / 128, 128>>>(a.d, b.d, n); show("csd", b);
    Buf<char> c(n, 3), d(n); copyshift<char, 256><<<(n + 255) / 256, 256>>>(c.d, d.d, n); show("csc", d);
    Buf<__half> h(n), h2(n); { std::vector<__half> v(n); for (int i = 0; i < n; ++i) v[i] = __float2half((i * 7 % 50) * .5f); cudaMemcpy(h.d, v.data(), 2 * n, cudaMemcpyHostToDevice); }
    half_avg<<<(n + 255) / 256, 256>>>(h.d, h2.d, n); show("half", h2);
    Buf<float> o(n);
    bf_to_float<<<(n + 127) / 128, 128>>>((__nv_bfloat16 *)h.d, o.d, n); show("bf", o);
    Buf<int> fl(n); char_edges<<<(n + 255) / 256, 256>>>(c.d, fl.d, n); show("edges", fl);
    Buf<short> sh(n, 4); short_fir<<<(n + 127) / 128, 128>>>(sh.d, fl.d, n); show("sfir", fl);
    Buf<Particle> p(n, 5); part<<<(n + 127) / 128, 128>>>(p.d, o.d, n); show("part", o);
    Buf<Rgb> r(n, 6), r2(n); rgbblur<<<(n + 255) / 256, 256>>>(r.d, r2.d, n); show("rgb", r2);
    Buf<Int3> t(n, 6), t2(n); second<<<(n + 127) / 128, 128>>>(t.d, t2.d, n); show("i3", t2);
    Buf<double4> w(n, 6); d4<<<(n + 31) / 32, 32>>>(w.d, a.d, n); show("d4", a);
    Buf<bool> bm(n); cudaMemset(bm.d, 1, n); boolmask<<<(n + 127) / 128, 128>>>(bm.d, fl.d, n); show("bm", fl);
  }
}
