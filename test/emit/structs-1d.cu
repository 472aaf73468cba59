// Structs: an array inside an element is read, staging by a conditional.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %t.cu -o %t.again.cu --cuda-path=%cuda -- -I%S/Inputs 2> /dev/null
// RUN: cmp %t.cu %t.again.cu
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS --implicit-check-not=warning %s %}
//
// CHECK-DAG: rewrote '{{.*}}st{{[<']}}
// CHECK-DAG: rewrote '{{.*}}stc{{[<']}}
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
//
#include "buffers.h"

struct Sample { int id; float v; short q[2]; };
__global__ void st(const Sample *a, float *b, int n) {
  __shared__ Sample s[65];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  if (g < n) s[t] = a[g];
  if (t == 0 && g + 64 < n) s[64] = a[g + 64];
  __syncthreads();
  if (g < n - 1) b[g] = s[t + 1].v - s[t].v + (float)(s[t + 1].id - s[t].id) + s[t].q[1];
}
static void run_struct() { for (int n : SIZES) { Buf<Sample> a(n, 3); Buf<float> b(n, 4); st<<<(n + 63) / 64, 64>>>(a.d, b.d, n); show("st", b); } }

struct P2 { float x, y; };
__global__ void stc(const P2 *a, P2 *b, int n) {
  __shared__ P2 s[130];
  const P2 zero = {0.f, 0.f};
  int t = threadIdx.x + 1, g = blockIdx.x * 128 + threadIdx.x;
  s[t] = g < n ? a[g] : zero;
  if (t == 1) s[0] = g > 0 ? a[g - 1] : zero;
  if (t == 128) s[129] = g + 1 < n ? a[g + 1] : P2{0.f, 0.f};
  __syncthreads();
  if (g < n) { P2 r; r.x = s[t + 1].x - s[t - 1].x; r.y = s[t + 1].y - s[t - 1].y; b[g] = r; }
}
static void run_struct_cond() { for (int n : SIZES) { Buf<P2> a(n, 3), b(n, 4); stc<<<(n + 127) / 128, 128>>>(a.d, b.d, n); show("stc", b); } }

int main() {
  run_struct();
  run_struct_cond();
}
