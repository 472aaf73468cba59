// Clamps of unsigned indices: `n - 1` of none is the largest number, which no int is.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda -- -std=c++17 -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -std=c++17 -DRCACHE_ANY_LAUNCH -I%S/Inputs 2>&1 | FileCheck --check-prefix=DIFF %s
// DIFF: {{[1-9][0-9]*}} by a rewritten kernel
#include "buffers.h"

// CHECK-DAG: rewrote 'plain'
__global__ void plain(const int *__restrict__ a, int *__restrict__ o, unsigned n) {
  __shared__ int s[130];
  const unsigned t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = a[min(g, n - 1)];
  if (t < 2)
    s[128 + t] = a[min(g + 128, n - 1)];
  __syncthreads();
  if (g < n)
    o[g] = s[t] + s[t + 1] * 3 + s[t + 2] * 5;
}
// CHECK-DAG: rewrote 'called'
__global__ void called(const int *__restrict__ a, int *__restrict__ o, unsigned n) {
  __shared__ int s[130];
  const unsigned t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = a[umin(g, n - 1)];
  if (t < 2)
    s[128 + t] = a[umin(g + 128, n - 1)];
  __syncthreads();
  if (g < n)
    o[g] = s[t] + s[t + 1] * 3 + s[t + 2] * 5;
}
// CHECK-DAG: rewrote 'beyond'
__global__ void beyond(const int *__restrict__ a, int *__restrict__ o, unsigned n) {
  __shared__ int s[130];
  const unsigned t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = a[(size_t)min(g + 1, n - 1)];
  if (t < 2)
    s[128 + t] = a[(size_t)min(g + 129, n - 1)];
  __syncthreads();
  if (g < n)
    o[g] = s[t] + s[t + 1] * 3 + s[t + 2] * 5;
}

int main() {
  for (unsigned n : {0u, 1u, 127u, 128u, 1000u, 2049u}) {
    Buf<int> a(4096), o(n + 1), p(n + 1), q(n + 1);
    a.nums(1);
    const int grid = n / 128 + 1;
    CHECK((plain<<<grid, 128>>>(a.d, o.d, n)));
    CHECK((called<<<grid, 128>>>(a.d, p.d, n)));
    CHECK((beyond<<<grid, 128>>>(a.d, q.d, n)));
    show("plain", o);
    show("called", p);
    show("beyond", q);
  }
}
