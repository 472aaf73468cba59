// Atomic operations on what is staged: the barrier keeps them behind the loads.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --self-check=off -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
#include "buffers.h"

// CHECK-DAG: rewrote 'reversed'
__global__ void reversed(int *a, int n) {
  __shared__ int s[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t] = i < n ? a[i] : 0;
  __syncthreads();
  if (i < n)
    atomicAdd(&a[i], s[127 - t]);
}

// Of two pointers that may lead to the same.
// CHECK-DAG: rewrote 'differences'
__global__ void differences(const int *a, int *o, int n) {
  __shared__ int s[128 + 4];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t] = i < n ? a[i] : 0;
  if (t < 4)
    s[128 + t] = i + 128 < n ? a[i + 128] : 0;
  __syncthreads();
  if (i < n)
    atomicMax(&o[i], s[t] - s[t + 3]);
}

// Nothing is read but what is staged, and nobody else has the result: no order is lost.
// CHECK-DAG: rewrote 'counted'
__global__ void counted(const int *__restrict__ a, int *__restrict__ bins, int n) {
  __shared__ int s[128 + 1];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t] = i < n ? a[i] : 0;
  if (t == 0)
    s[128] = i + 128 < n ? a[i + 128] : 0;
  __syncthreads();
  if (i < n)
    atomicAdd(&bins[(s[t] ^ s[t + 1]) & 15], 1);
}

int main() {
  Buf<int> a(1000, 1), b(128, 2), bins(16, 3);
  reversed<<<8, 128>>>(a.d, 1000);
  differences<<<1, 128>>>(b.d, b.d, 128);
  differences<<<1, 128>>>(b.d, b.d + 1, 127);
  counted<<<8, 128>>>(a.d, bins.d, 1000);
}
