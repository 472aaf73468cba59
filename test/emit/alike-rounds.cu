// Rounds of a loop that all read one element of an array share its register.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --coarsen=4 --distribution=chunked -o %t.cu --cuda-path=%cuda -- -I%S/Inputs \
// RUN:   2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH
#include "program.h"

// CHECK-DAG: rewrote 'scaled' ({{.*}}): 4 outputs a thread;{{.*}} 'q' read at the barrier, 4 registers
__global__ void scaled(const float *a, const float *b, float *out, int n) {
  __shared__ float s[4][8];
  __shared__ float q[4];
  const int t = threadIdx.x, g = (int)blockIdx.x * 32 + t, r = t / 8, c = t % 8;
  s[r][c] = g < n ? a[g] : 0.f;
  if (c == 0)
    q[r] = b[r];
  __syncthreads();
  if (g < n) {
    float acc = 0;
    for (int k = 0; k < 8; ++k)
      acc = max(acc, s[r][k] - q[r]);
    out[g] = max(acc, s[(r + 1) % 4][c]);
  }
}

// CHECK-DAG: rewrote 'repeated' ({{.*}}): 4 outputs a thread;{{.*}} registers
__global__ void repeated(const float *a, float *out, int n) {
  __shared__ float s[64];
  const int t = threadIdx.x, g = (int)blockIdx.x * 64 + t;
  s[t] = g < n ? a[g] : 0.f;
  __syncthreads();
  if (g < n) {
    float acc = a[g];
    for (int k = 0; k < 3; ++k)
      acc = max(s[t ^ 1] - acc, s[(t + 1) % 64]);
    out[g] = max(acc, s[63 - t]);
  }
}

int main() {
  for (int n : {1000, 2311, 256}) {
    const Buffer<float> a(randoms<float>(n));
    Buffer<float> b(n);
    scaled<<<blocks(n, 32), 32>>>(a.Data, a.Data + 2, b.Data, n), b.show("scaled", n);
    repeated<<<blocks(n, 64), 64>>>(a.Data, b.Data, n), b.show("repeated", n);
  }
}
