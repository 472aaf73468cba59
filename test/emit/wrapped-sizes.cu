// Halos in size_t, where the element in front of the first is beyond all others.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --coarsen=4 -o %t.cu --cuda-path=%cuda -- -I%S/Inputs \
// RUN:   2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH
#include "program.h"

// CHECK-DAG: rewrote 'line' ({{.*}}): 4 outputs a thread; 's' reloaded, 6 registers
__global__ void line(const int *__restrict__ a, int *__restrict__ out, int n) {
  __shared__ int s[130];
  const int t = threadIdx.x;
  const size_t b = blockIdx.x * 128;
  for (size_t i = t; i < 130; i += 128) {
    const size_t q = b + i - 1;
    s[i] = q < (size_t)n ? a[q] : 4;
  }
  __syncthreads();
  const size_t g = b + t;
  if (g < n)
    out[g] = s[t] * 3 - s[t + 2];
}
// CHECK-DAG: rewrote 'either' ({{.*}}): 4 outputs a thread; 's' reloaded, 6 registers
__global__ void either(const int *__restrict__ a, int *__restrict__ out, size_t n) {
  __shared__ int s[130];
  const size_t t = threadIdx.x, g = (size_t)blockIdx.x * 128 + t;
  s[t + 1] = g < n ? a[g] : 0;
  if (t < 2) {
    const size_t q = t ? g + 127 : g - 1;
    s[t ? 129 : 0] = q >= n ? 7 : a[q];
  }
  __syncthreads();
  if (g < n)
    out[g] = s[t] * 3 - s[t + 2];
}
// CHECK-DAG: rewrote 'signedToo' ({{.*}}): 4 outputs a thread; 's' reloaded, 6 registers
__global__ void signedToo(const int *__restrict__ a, int *__restrict__ out, int n) {
  __shared__ int s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int i = t; i < 130; i += 128) {
    const long q = (long)blockIdx.x * 128 + i - 1;
    s[i] = (unsigned long)q < (unsigned long)n ? a[q] : 4;
  }
  __syncthreads();
  if (g < n)
    out[g] = s[t] * 3 - s[t + 2];
}
// CHECK-DAG: 'down'
__global__ void down(const int *__restrict__ a, int *__restrict__ out, int n) {
  __shared__ int s[128 + 32];
  const size_t t = threadIdx.x, g = (size_t)blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0;
  if (t < 32)
    s[t + 128] = g + 128 < n ? a[g + 128] : 0;
  __syncthreads();
  int acc = 0;
  for (size_t k = 32; k-- > 0;)
    acc = acc * 5 + s[t + k];
  if (g < n)
    out[g] = acc;
}

int main() {
  for (int n : {1000, 2311, 256}) {
    const Buffer<int> a(randoms<int>(n));
    Buffer<int> b(n);
    line<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("line", n);
    either<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("either", n);
    signedToo<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("signedToo", n);
    down<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("down", n);
  }
}
