// Pointers into shared and global memory: windows by pointer, arrays carved out
// of one buffer.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %t.cu -o %t.again.cu --cuda-path=%cuda -- -I%S/Inputs 2> /dev/null
// RUN: cmp %t.cu %t.again.cu
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS --implicit-check-not=warning %s %}
//
// CHECK-DAG: rewrote '{{.*}}lap{{[<']}}
// CHECK-DAG: rewrote '{{.*}}carve2{{[<']}}
// CHECK-DAG: rewrote '{{.*}}adr{{[<']}}
// CHECK-DAG: rewrote '{{.*}}ptrs{{[<']}}
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
//
#include "buffers.h"

// input has a halo of its own: in[gid + R]
#define R 2
__global__ void lap(const double *u, double *v, double c) {
  __shared__ double s[64 + 2 * R];
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = u[i];
  if (threadIdx.x < 2 * R) s[threadIdx.x + blockDim.x] = u[i + blockDim.x];
  __syncthreads();
  const double *w = s + threadIdx.x + R;
  v[i] = c * (-w[-2] + 16 * w[-1] - 30 * w[0] + 16 * w[1] - w[2]);
}
static void run_padded_input() { for (int nb : {1, 2, 17}) { int n = nb * 64; Buf<double> a(n + 4), b(n); a.nums(3); b.nums(4); lap<<<nb, 64>>>(a.d, b.d, 0.25); show("lap", b); } }
#undef R

__global__ void carve2(const float *x, const float *y, float *o, int n) {
  extern __shared__ float pool[];
  float *sx = pool, *sy = &pool[blockDim.x + 2];
  int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  sx[t + 1] = g < n ? x[g] : 0.f; sy[t + 1] = g < n ? y[g] : 0.f;
  if (t == 0) { sx[0] = g > 0 ? x[g - 1] : 0.f; sy[0] = g > 0 ? y[g - 1] : 0.f; }
  if (t == blockDim.x - 1) { sx[t + 2] = g + 1 < n ? x[g + 1] : 0.f; sy[t + 2] = g + 1 < n ? y[g + 1] : 0.f; }
  __syncthreads();
  if (g < n) o[g] = (sx[t] + sx[t + 2]) * (sy[t] - sy[t + 2]);
}
static void run_carved_same_type() { int bs = 128; for (int n : SIZES) { Buf<float> a(n), c(n); Buf<float> b(n); a.nums(3); b.nums(4); c.nums(5); carve2<<<(n + bs - 1) / bs, bs, 2 * (bs + 2) * 4>>>(a.d, b.d, c.d, n); show("carve", c); } }

__global__ void adr(const float *a, float *b, int n) {
  __shared__ float s[130];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[128 + t] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  const float *w = &s[t];
  if (g < n) b[g] = w[0] + w[1] * w[2];
}
static void run_addr_of() { for (int n : SIZES) { Buf<float> a(n), b(n); a.nums(3); b.nums(4); adr<<<(n + 127) / 128, 128>>>(a.d, b.d, n); show("adr", b); } }

__global__ void ptrs(const float *in, float *out, int n) {
  __shared__ float s[256 + 2];
  const int off = blockIdx.x * blockDim.x;
  const float *p = in + off;
  float *q = out + off;
  int t = threadIdx.x;
  if (off + t < n) *(s + t + 1) = *(p + t);
  if (t == 0 && off > 0) *s = p[-1];
  if (t == 255 && off + 256 < n) s[257] = p[256];
  __syncthreads();
  if (off + t > 0 && off + t < n - 1) *(q + t) = *(s + t) * 0.25f + s[t + 1] * 0.5f + 0.25f * *(s + t + 2);
}
static void run_ptr_arith() { for (int n : SIZES) { Buf<float> a(n), b(n); a.nums(3); b.nums(4); ptrs<<<(n + 255) / 256, 256>>>(a.d, b.d, n); show("p", b); } }

int main() {
  run_padded_input();
  run_carved_same_type();
  run_addr_of();
  run_ptr_arith();
}
