// Functions of the toolkit that nobody has listed: one that gets values alone and returns
// nothing does something that its call does not name (barriers by number), one that gets
// nothing and returns a value reads it somewhere (counters, places in a cluster).
//
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s --cuda-path=%cuda --force --self-check=off -o %t.cu -- -std=c++17 2>&1 | FileCheck %s
#include <cuda_runtime.h>

// CHECK: 'numbered' left as it is: {{.*}}('__barrier_sync') [side-effects]
__global__ void numbered(const int *a, int *b, int n) {
  __shared__ int s[258];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t + 1] = g < n ? a[g] : 0;
  if (t == 0)
    s[0] = 1;
  if (t == 255)
    s[257] = 9;
  __barrier_sync(0);
  if (g < n)
    b[g] = s[t] * 3 - s[t + 1] + s[t + 2];
}

__device__ void halfOf(int threads) { __barrier_sync_count(1, threads); }

// CHECK: 'counted' left as it is: {{.*}}[side-effects]
__global__ void counted(const int *a, int *b, int n) {
  __shared__ int s[256];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? a[g] : 0;
  halfOf(256);
  if (g < n)
    b[g] = s[255 - t];
}

// CHECK: 'profiled' left as it is: {{.*}}('__pm0') [side-effects]
__global__ void profiled(const int *a, int *b, int n) {
  __shared__ int s[256];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? a[g] : 0;
  __syncthreads();
  if (g < n)
    b[g] = s[255 - t] + __pm0();
}

// What is known to be no more than it says.
// CHECK: rewrote 'assumed'
__global__ void assumed(const int *a, int *b, int n) {
  __shared__ int s[256];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  __builtin_assume(n > 0);
  s[t] = g < n ? a[g] : 0;
  __syncthreads();
  if (g < n)
    b[g] = s[255 - t];
}

void launch(const int *a, int *b, int n) {
  const int blocks = (n + 255) / 256;
  numbered<<<blocks, 256>>>(a, b, n);
  counted<<<blocks, 256>>>(a, b, n);
  profiled<<<blocks, 256>>>(a, b, n);
  assumed<<<blocks, 256>>>(a, b, n);
}
