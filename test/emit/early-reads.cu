// Reads without a window of memory that the kernel may write: they are done at
// the barrier that stays, into a register for each slot and round.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s --input-file=%t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %s -o %t.v.cu --cuda-path=%cuda -q --print-after=verify -- -I%S/Inputs | FileCheck %s --check-prefix=VERIFY --implicit-check-not=WRONG
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
//
// CHECK-DAG: rewrote 'inplace_pair' {{.*}} read at the barrier
// CHECK-DAG: rewrote 'up2' {{.*}} read at the barrier
// CHECK-DAG: rewrote 'quad_leader' {{.*}} read at the barrier
// CHECK-DAG: rewrote 'rotated' {{.*}} read at the barrier
// CHECK-DAG: rewrote 'backwards' {{.*}} read at the barrier
// CHECK-DAG: rewrote 'rounded'
// TEXT: inplace_pair_rc(
// TEXT: before anything is stored
// TEXT: __syncthreads();
// TEXT: store_run
// VERIFY: verified
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
//
#include "buffers.h"
__global__ void inplace_pair(float *a, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) s[threadIdx.x] = a[i];
  __syncthreads();
  int p = threadIdx.x ^ 1;
  if (blockIdx.x * 256 + p < n && i < n) a[i] = 0.5f * (s[threadIdx.x] + s[p]);
}
__global__ void up2(const float *in, float *out, int n) {
  __shared__ float s[65];
  int t = threadIdx.x;
  int b = blockIdx.x * 64;
  if (t < 64) s[t] = in[b + t];
  if (t == 64) s[64] = b + 64 < n ? in[b + 64] : in[n - 1];
  __syncthreads();
  int o = blockIdx.x * 128 + t;
  if (t % 2 == 0) out[o] = s[t / 2]; else out[o] = 0.5f * (s[t / 2] + s[t / 2 + 1]);
}
__global__ void quad_leader(const long long *a, long long *b, size_t n) {
  __shared__ long long s[256];
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) s[threadIdx.x] = a[i];
  __syncthreads();
  if (i < n) { size_t o = threadIdx.x & ~3u; b[i] = s[threadIdx.x] + s[o]; }
}
// Rounds of a loop; the staging is guarded.
__global__ void rotated(float *a, int n) {
  __shared__ float s[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  if (i < n) s[t] = a[i];
  __syncthreads();
  if (i >= n || (blockIdx.x + 1) * 128 > n) return;
  float v = 0.0f;
  for (int k = 0; k < 6; k += 2) v += (k + 1) * s[(t + 5 * k + 3) % 128];
  a[i] = v;
}
// A loop that counts down, an index with a quotient and a remainder.
__global__ void backwards(const short *a, short *b, int n) {
  extern __shared__ short h[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  h[t] = i < n ? a[i] : (short)-1;
  __syncthreads();
  int v = 0;
  for (int k = 3; k >= 1; --k) v = 3 * v + h[t / 4 * 4 + (t + k) % 4];
  if (i < n) b[i] = (short)v;
}
// The other rounds of a loop around the barriers have their own reads.
__global__ void rounded(int *a, int n) {
  __shared__ int s[64];
  for (int base = blockIdx.x * 64; base < n; base += gridDim.x * 64) {
    int i = base + threadIdx.x;
    s[threadIdx.x] = i < n ? a[i] : 0;
    __syncthreads();
    if (i < n) a[i] = s[threadIdx.x] - 3 * s[threadIdx.x & 0x38] + s[threadIdx.x ^ 2];
    __syncthreads();
  }
}
int main() {
  for (int n : {128, 256, 1024, 1280, 200, 4096}) {
    Buf<float> a(2 * n + 600), b(2 * n + 600); a.nums(3); b.nums(9);
    inplace_pair<<<(n + 255) / 256, 256>>>(a.d, n); show("pair", a);
    up2<<<n / 64, 128>>>(a.d, b.d, n); show("up", b);
    rotated<<<(n + 127) / 128, 128>>>(b.d, n); show("rot", b);
    Buf<long long> l(n, 6), l2(n); quad_leader<<<(n + 255) / 256, 256>>>(l.d, l2.d, n); show("ql", l2);
    Buf<short> h(n, 6), h2(n);
    for (int bs : {64, 256, 100}) { backwards<<<(n + bs - 1) / bs, bs, 2 * bs>>>(h.d, h2.d, n); show("bw", h2); }
    backwards<<<(n + 63) / 64, 64, 128>>>(h2.d, h2.d, n); show("bw in place", h2);
    Buf<int> c(n); c.nums(3); rounded<<<3, 64>>>(c.d, n); show("rd", c);
  }
}
