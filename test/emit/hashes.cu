// Numbers that are meant to wrap: no launch is asked to be so small that they do not.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --coarsen=4 -o %t.cu --cuda-path=%cuda -- -I%S/Inputs \
// RUN:   2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DIFF
// DIFF: equivalent: 9 launches compared, {{.*}}; 9 by a rewritten kernel
#include "program.h"

#define STAGE                                                                            \
  __shared__ float s[130];                                                               \
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;                                   \
  for (int i = t; i < 130; i += 128) {                                                   \
    const int q = (int)(blockIdx.x * 128) + i - 1;                                       \
    s[i] = q >= 0 && q < n ? a[q] : 0;                                                   \
  }                                                                                      \
  __syncthreads();

// CHECK-DAG: rewrote 'hashed' ({{.*}}): 4 outputs a thread; 's' {{.*}}registers
__global__ void hashed(const float *__restrict__ a, float *__restrict__ out, int n) {
  STAGE
  const unsigned r = g * 2654435761u;
  if (g < n)
    out[g] = s[t] + s[t + 2] + (r >> 8);
}
// CHECK-DAG: rewrote 'cut' ({{.*}}): 4 outputs a thread; 's' {{.*}}registers
__global__ void cut(const float *__restrict__ a, float *__restrict__ out, int n) {
  STAGE
  const long long wide = (long long)g * 3000000000ll;
  const unsigned low = (unsigned)wide;
  if (g < n)
    out[g] = s[t] + s[t + 2] + low % 17;
}
// CHECK-DAG: rewrote 'congruential' ({{.*}}): 4 outputs a thread; 's' {{.*}}registers
__global__ void congruential(const float *__restrict__ a, float *__restrict__ out, int n) {
  STAGE
  unsigned seed = g;
  for (int k = 0; k < 3; ++k)
    seed = seed * 1103515245u + 12345u;
  if (g < n)
    out[g] = s[t] + s[t + 2] + (seed >> 16 & 7);
}

int main() {
  for (int n : {1000, 2311, 256}) {
    const Buffer<float> a(randoms<float>(n));
    Buffer<float> b(n);
    hashed<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("hashed", n);
    cut<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("cut", n);
    congruential<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("congruential", n);
  }
}
