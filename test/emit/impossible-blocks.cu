// Launches that programs make to see them fail tell nothing of a kernel's blocks.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --report=%t.json -o %t.cu --force --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck --input-file=%t.remarks %s
// RUN: %python -m json.tool %t.json %t.pretty
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK: rewrote 'k' (4 launches)
// CHECK-NOT: speed-up inf
#include "sum3.h"
__global__ void k(const float *in, float *out, int n) { SUM3(float) }
static void say() { std::printf("%d\n", (int)cudaGetLastError()); }
int main() {
  const int n = 5000;
  Buffer<float> a(randoms<float>(n)), b(n);
  k<<<4, 0>>>(a.Data, b.Data, n);
  say();
  k<<<4, dim3(32, 64)>>>(a.Data, b.Data, n);
  say();
  k<<<4, dim3(1, 1, 256)>>>(a.Data, b.Data, n);
  say();
  k<<<20, 256>>>(a.Data, b.Data, n);
  b.show("k");
}
