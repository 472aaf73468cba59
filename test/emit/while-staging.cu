// Staging in while and do loops that count; a do loop whose first round is not
// one of a while loop is left as it is.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
//
// CHECK-DAG: rewrote 'while_stage'
// CHECK-DAG: rewrote 'dowhile'
// CHECK-DAG: rewrote 'dynamic'
// CHECK-DAG: 'once_more' left as it is: {{.*}} [unsupported-statement]
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
//
#include "buffers.h"
#define T 128
__global__ void while_stage(const float *a, float *b, int n) {
  __shared__ float s[T + 16];
  int start = blockIdx.x * T - 8;
  int i = threadIdx.x;
  while (i < T + 16) {
    int g = start + i;
    s[i] = (g >= 0 && g < n) ? a[g] : 0.f;
    i += T;
  }
  __syncthreads();
  int g = blockIdx.x * T + threadIdx.x;
  if (g < n) {
    float m = s[threadIdx.x];
    for (int k = 1; k <= 16; ++k) m = max(m, s[threadIdx.x + k]);
    b[g] = m;
  }
}
__global__ void dowhile(const int *a, int *b, int n) {
  __shared__ int s[256 + 8];
  int k = threadIdx.x;
  do {
    int q = blockIdx.x * 256 + k;
    s[k] = q < n ? a[q] : -1;
    k += 256;
  } while (k < 264);
  __syncthreads();
  int g = blockIdx.x * 256 + threadIdx.x;
  int cnt = 0;
  for (int j = 1; j <= 8; ++j) if (s[threadIdx.x + j] == s[threadIdx.x]) ++cnt;
  if (g < n) b[g] = cnt;
}
// The step may stand anywhere but in front of what uses the counter, and move
// several variables.
__global__ void dynamic(const float *a, float *b, int n) {
  extern __shared__ float d[];
  int i = threadIdx.x;
  while (i < (int)blockDim.x + 4) {
    int g = (int)(blockIdx.x * blockDim.x) + i - 2;
    d[i] = g >= 0 && g < n ? a[g] : 1.0f;
    i = i + blockDim.x;
  }
  __syncthreads();
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n) b[g] = d[threadIdx.x] * d[threadIdx.x + 4] + d[threadIdx.x + 2];
}
// No round of the last threads: `do` stages one element more than `while`.
__global__ void once_more(const float *a, float *b, int n) {
  __shared__ float s[2 * T];
  int k = threadIdx.x;
  do {
    int g = blockIdx.x * T + k;
    s[k] = g < n ? a[g] : 0.f;
    k += T;
  } while (k < 100);
  __syncthreads();
  int g = blockIdx.x * T + threadIdx.x;
  if (g < n) b[g] = s[threadIdx.x] + s[threadIdx.x ^ 1];
}
int main() {
  for (int n : SIZES) {
    Buf<float> a(n), b(n); a.nums(3); b.nums(9);
    Buf<int> w(n), v(n); w.nums(5);
    while_stage<<<(n + T - 1) / T, T>>>(a.d, b.d, n); show("ws", b);
    dowhile<<<(n + 255) / 256, 256>>>(w.d, v.d, n); show("dw", v);
    for (int bs : {64, 96, 33}) { dynamic<<<(n + bs - 1) / bs, bs, (bs + 4) * 4>>>(a.d, b.d, n); show("dyn", b); }
    once_more<<<(n + T - 1) / T, T>>>(a.d, b.d, n); show("om", b);
  }
}
