// Loops that count down to nothing: conditions that are the counter itself, and
// counters without a sign.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --coarsen=4 -o %t.cu --cuda-path=%cuda -- -I%S/Inputs \
// RUN:   2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH
#include "program.h"

__device__ inline int at(const int *a, int q, int n) { return q >= 0 && q < n ? a[q] : 0; }

#define STAGE                                                                            \
  __shared__ int s[128 + 8];                                                             \
  const int t = threadIdx.x, g = (int)blockIdx.x * 128 + t;                              \
  for (int i = t; i < 136; i += 128)                                                     \
    s[i] = at(a, (int)blockIdx.x * 128 + i - 4, n);                                      \
  __syncthreads();                                                                       \
  int v = 0;

// CHECK-DAG: rewrote 'itself' ({{.*}}): 4 outputs a thread; 's' {{.*}}registers
__global__ void itself(const int *__restrict__ a, int *__restrict__ out, int n) {
  STAGE
  for (int k = 4; k; k--)
    v = v * 31 + s[t + k];
  if (g < n)
    out[g] = v;
}
// CHECK-DAG: rewrote 'unsignedSteps' ({{.*}}): 4 outputs a thread; 's' {{.*}}registers
__global__ void unsignedSteps(const int *__restrict__ a, int *__restrict__ out, int n) {
  STAGE
  for (unsigned k = 8; k > 1; --k)
    v = v * 31 + s[t + k];
  for (unsigned char k = 3; k; --k)
    v = v * 7 - s[t + k];
  for (size_t k = 5; k != 2; k--)
    v ^= s[t + k];
  if (g < n)
    out[g] = v;
}
// CHECK-DAG: rewrote 'inTheBody' ({{.*}}): 4 outputs a thread; 's' read from its source
__global__ void inTheBody(const int *__restrict__ a, int *__restrict__ out, int n) {
  STAGE
  int k = 8;
  while (k) {
    v = v * 31 + s[t + k];
    --k;
  }
  if (g < n)
    out[g] = v + k;
}
// Passes zero: what the counter is then, nobody may assume.
__global__ void wraps(const int *__restrict__ a, int *__restrict__ out, int n) {
  STAGE
  for (unsigned k = 7; k < 8; k -= 2)
    v = v * 31 + s[t + k];
  for (unsigned k = 6; k >= 1; k -= 3) {
    v += s[t + k];
    if (k == 3)
      break;
  }
  if (g < n)
    out[g] = v;
}

int main() {
  for (int n : {1000, 2311, 256}) {
    const Buffer<int> a(randoms<int>(n));
    Buffer<int> b(n);
    itself<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("itself", n);
    unsignedSteps<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("unsignedSteps", n);
    inTheBody<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("inTheBody", n);
    wraps<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("wraps", n);
  }
}
