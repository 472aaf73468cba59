// Any block size runs rewritten: the plan for multiples of 256 threads, or another.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %t.cu -o %t.again.cu --cuda-path=%cuda -- -I%S/Inputs 2> /dev/null
// RUN: cmp %t.cu %t.again.cu
// RUN: %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -c %t.cu -o %t.o 2>&1 | FileCheck --check-prefix=PTXAS --implicit-check-not=warning %s
//
// CHECK-DAG: rewrote '{{.*}}ub{{[<']}}
// CHECK: note: blocks that are no multiple of 256 threads: {{.*}} outputs a thread
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
//
#include "buffers.h"

__global__ void ub(const int *a, int *b, int n) {
  extern __shared__ int sh[];
  int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  if (g >= n) return;
  sh[t] = a[g];
  if (t < 16 && g + blockDim.x < n) sh[t + blockDim.x] = a[g + blockDim.x];
  __syncthreads();
  if (g < n - 16) { int acc = 0; for (int i = 0; i <= 16; ++i) acc += sh[t + i]; b[g] = acc; }
}
static void run_unknown_block() { for (int bs : {64, 96, 128, 192, 256, 512}) { for (int n : SIZES) { Buf<int> a(n, 3), b(n, 4); ub<<<(n + bs - 1) / bs, bs, (bs + 16) * 4>>>(a.d, b.d, n); show("ub", b); } } }

int main() {
  run_unknown_block();
}
