// One-dimensional kernels whose staging is chosen by data, borders, blocks or rows.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
//
// CHECK-DAG: rewrote 'cond_stage'
// CHECK-DAG: rewrote 'gather_stage'
// CHECK-DAG: rewrote 'two_phase'
// CHECK-DAG: rewrote 'rowscale'
// CHECK-DAG: rewrote 'tail'
// CHECK-DAG: rewrote 'periodic'
// CHECK-DAG: rewrote 'mirror'
// Two products a sum, of elements read elsewhere for another output: their order is not known.
// CHECK-DAG: 'complexmul' left as it is: {{.*}} [fusion-unsettled]
// CHECK-DAG: rewrote 'histo_smooth'
// CHECK-DAG: rewrote 'offs'
// CHECK-DAG: rewrote 'strided_in'
// CHECK-DAG: rewrote 'rows2'
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
//
#include "buffers.h"
// data-dependent staging of all kinds
__global__ void cond_stage(const float *v, const int *flag, float *o, int n) {
  __shared__ float s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = 0.f;
  if (i < n && flag[i] > 60) s[threadIdx.x] = v[i];
  __syncthreads();
  if (i < n) o[i] = s[threadIdx.x] + (threadIdx.x ? s[threadIdx.x - 1] : 0.f);
}
__global__ void gather_stage(const float *v, const int *idx, float *o, int n) {
  __shared__ float s[129];
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) s[threadIdx.x] = v[idx[i] % n];
  if (threadIdx.x == 0 && i + 128 < n) s[128] = v[idx[i + 128] % n];
  __syncthreads();
  if (i < n - 1) o[i] = s[threadIdx.x + 1] - s[threadIdx.x];
}
__global__ void two_phase(const float *v, float *o, int n) { // overwritten after barrier
  __shared__ float s[130];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t + 1] = i < n ? v[i] : 0.f;
  if (t == 0) { s[0] = i > 0 && i - 1 < n ? v[i - 1] : 0.f; s[129] = i + 128 < n ? v[i + 128] : 0.f; }
  __syncthreads();
  float m = fmaxf(s[t], fmaxf(s[t + 1], s[t + 2]));
  __syncthreads();
  s[t + 1] = m;
  __syncthreads();
  if (i < n && t > 0 && t < 127) o[i] = s[t] + s[t + 2];
}
__global__ void rowscale(const float *m, const float *scale, float *o, int cols) { // block per row
  __shared__ float f;
  extern __shared__ float row[];
  if (threadIdx.x == 0) f = scale[blockIdx.x];
  for (int c = threadIdx.x; c < cols; c += blockDim.x) row[c] = m[blockIdx.x * cols + c];
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += blockDim.x) o[blockIdx.x * cols + c] = row[c] * f - row[cols - 1 - c];
}
__global__ void tail(const int *a, int *o, int n) { // last block handled apart
  __shared__ int s[64 + 3];
  int t = threadIdx.x, base = blockIdx.x * 64;
  if (base + 64 + 3 <= n) {
    s[t] = a[base + t];
    if (t < 3) s[64 + t] = a[base + 64 + t];
  } else {
    for (int k = t; k < 67; k += 64) s[k] = base + k < n ? a[base + k] : 0;
  }
  __syncthreads();
  if (base + t < n) o[base + t] = s[t] + 2 * s[t + 1] + 3 * s[t + 2] + 4 * s[t + 3];
}
__global__ void periodic(const float *a, float *o, int n) {
  __shared__ float s[128 + 2];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  if (i < n) {
    s[t + 1] = a[i];
    if (t == 0) s[0] = a[(i + n - 1) % n];
    if (t == 127 || i == n - 1) s[t + 2] = a[(i + 1) % n];
  }
  __syncthreads();
  if (i < n) o[i] = s[t] - 2 * s[t + 1] + s[t + 2];
}
__global__ void mirror(const short *a, short *o, int n) {
  __shared__ short s[256 + 8];
  for (int k = threadIdx.x; k < 264; k += blockDim.x) {
    int g = (int)(blockIdx.x * 256) + k - 4;
    if (g < 0) g = -g;
    if (g >= n) g = 2 * n - 2 - g;
    g = min(max(g, 0), n - 1);
    s[k] = a[g];
  }
  __syncthreads();
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) { int v = 0; for (int k = 0; k <= 8; ++k) v += s[threadIdx.x + k]; o[i] = v / 9; }
}
__global__ void complexmul(const float2 *a, const float2 *w, float2 *o, int n) {
  __shared__ float2 sa[128], sw[16];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  if (t < 16) sw[t] = w[t];
  sa[t] = i < n ? a[i] : make_float2(0, 0);
  __syncthreads();
  if (i >= n) return;
  float2 x = sa[t], y = sa[t ^ 16], c = sw[t & 15];
  float2 r;
  r.x = x.x * c.x - y.y * c.y; r.y = x.y * c.x + y.x * c.y;
  o[i] = r;
}
__global__ void histo_smooth(const unsigned *h, float *o, int bins, float inv) {
  extern __shared__ unsigned sh[];
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  sh[threadIdx.x + 2] = b < bins ? h[b] : 0u;
  if (threadIdx.x < 2) { sh[threadIdx.x] = b >= 2 && b - 2 < bins ? h[b - 2] : 0u; sh[threadIdx.x + 2 + blockDim.x] = b + blockDim.x < bins ? h[b + blockDim.x] : 0u; }
  __syncthreads();
  if (b < bins) {
    unsigned *c = sh + threadIdx.x + 2;
    o[b] = (float)(c[-2] + 4u * c[-1] + 6u * c[0] + 4u * c[1] + c[2]) * inv;
  }
}
__global__ void offs(const float *a, float *o, int n, int off) {
  __shared__ float s[128 + 1];
  int i = blockIdx.x * 128 + threadIdx.x + off;
  s[threadIdx.x] = i < n ? a[i] : 0.f;
  if (threadIdx.x == 127) s[128] = i + 1 < n ? a[i + 1] : 0.f;
  __syncthreads();
  if (i < n) o[i - off] = s[threadIdx.x] * s[threadIdx.x + 1];
}
__global__ void strided_in(const float *a, float *o, int n, int stride) {
  __shared__ float s[128 + 1];
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) s[threadIdx.x] = a[i * stride];
  if (threadIdx.x == 127 && i + 1 < n) s[128] = a[(i + 1) * stride];
  __syncthreads();
  if (i < n - 1) o[i] = s[threadIdx.x + 1] - s[threadIdx.x];
}
__global__ void rows2(const float *a, float *o, int w, int h) { // 1-D block, grid.y rows
  __shared__ float s[128 + 2];
  int t = threadIdx.x, x = blockIdx.x * 128 + t, y = blockIdx.y;
  const float *row = a + y * w;
  s[t + 1] = x < w ? row[x] : 0.f;
  if (t == 0) s[0] = x > 0 && x - 1 < w ? row[x - 1] : 0.f;
  if (t == 127) s[129] = x + 1 < w ? row[x + 1] : 0.f;
  __syncthreads();
  if (x < w) o[y * w + x] = s[t] + s[t + 2];
}
int main() {
  for (int n : SIZES) {
    Buf<float> a(3 * n + 10), b(3 * n + 10); a.nums(3); b.nums(9); Buf<int> p(n), q(n); p.nums(3); q.nums(4);
    int g = (n + 127) / 128;
    cond_stage<<<g, 128>>>(a.d, p.d, b.d, n); show("cs", b);
    gather_stage<<<g, 128>>>(a.d, p.d, b.d, n); show("gs", b);
    two_phase<<<g, 128>>>(a.d, b.d, n); show("tp", b);
    if (n < 2049) { int c = n; rowscale<<<3, 64, c * 4>>>(a.d, b.d, b.d + 3, c); show("rs", b); }
    tail<<<(n + 63) / 64, 64>>>(p.d, q.d, n); show("tail", q);
    periodic<<<g, 128>>>(a.d, b.d, n); show("per", b);
    Buf<short> u(n, 3), v(n); mirror<<<(n + 255) / 256, 256>>>(u.d, v.d, n); show("mir", v);
    Buf<float2> c(n, 3), d(n), w(16, 4); complexmul<<<g, 128>>>(c.d, w.d, d.d, n); show("cm", d);
    for (int bs : {64, 96}) { histo_smooth<<<(n + bs - 1) / bs, bs, (bs + 4) * 4>>>((unsigned *)p.d, b.d, n, .0625f); show("hs", b); }
    offs<<<g, 128>>>(a.d, b.d, n, 5); show("off", b);
    strided_in<<<g, 128>>>(a.d, b.d, n, 3); show("str", b);
    rows2<<<dim3(g, 3), 128>>>(a.d, b.d, n, 3); show("rows2", b);
  }
}
