// Stores through a pointer to const, which is cast away, collected into vectors.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda -- -std=c++17 -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -std=c++17 -DRCACHE_ANY_LAUNCH -I%S/Inputs 2>&1 | FileCheck --check-prefix=DIFF %s
// CHECK: rewrote 'smooth'
// TEXT: store_run<{{[0-9]+}}>({{[(]int [*][)]}}o +
// DIFF: {{[1-9][0-9]*}} by a rewritten kernel
#include "buffers.h"

__global__ void smooth(const int *__restrict__ a, const int *__restrict__ o, int n) {
  __shared__ int s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0;
  if (t < 2)
    s[128 + t] = g + 128 < n ? a[g + 128] : 0;
  __syncthreads();
  if (g < n)
    const_cast<int *>(o)[g] = s[t] + 2 * s[t + 1] + s[t + 2];
}

int main() {
  for (int n : {1, 127, 1000, 2049}) {
    Buf<int> a(n), o(n);
    a.nums(1);
    CHECK((smooth<<<(n + 127) / 128, 128>>>(a.d, o.d, n)));
    show("smooth", o);
  }
}
