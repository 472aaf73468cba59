// A text that has been made of what is known of one shape of blocks is right for no other:
// where no launch tells the block, the shape that was assumed, and planned in a line, is asked
// for by number and width. Other shapes with as many threads, or fewer, keep the original.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -DRCACHE_ANY_LAUNCH
// RUN: rcache-check diff %s %t.cu -- -DRCACHE_ANY_LAUNCH -DMOST=128
//
// CHECK: rewrote 'tree'
// CHECK-NOT: blocks of 128 threads
// CHECK: rewrote 'tile'
#include <cstdio>

#ifndef MOST
#define MOST 1024
#endif

__global__ void tree(const long long *__restrict__ in, long long *__restrict__ out, int n) {
  __shared__ long long s[1024];
  const int threads = int(blockDim.x * blockDim.y);
  const int t = int(threadIdx.y * blockDim.x + threadIdx.x);
  const int g = int(blockIdx.x) * threads + t;
  s[t] = g < n ? in[g] : 0;
  __syncthreads();
  for (int d = int(blockDim.x * blockDim.y) / 2; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// The shape is the array's: 32 x 32.
__global__ void tile(const int *__restrict__ in, int *__restrict__ out, int n) {
  __shared__ int s[32][32];
  const int x = threadIdx.x, y = threadIdx.y, w = blockDim.x;
  const int g = int((blockIdx.x * blockDim.y + y) * w) + x;
  s[y][x] = g < n ? in[g] : 0;
  __syncthreads();
  for (int d = int(blockDim.y) / 2; d > 0; d /= 2) {
    if (y < d)
      s[y][x] += s[y + d][x];
    __syncthreads();
  }
  if (y == 0)
    out[blockIdx.x * w + x] = s[0][x];
}

int main() {
  const int n = 5000;
  static long long h[n], r[n];
  static int hi[n], ri[n];
  for (int i = 0; i < n; ++i)
    h[i] = hi[i] = i * 7919 % 1009;
  long long *a, *o;
  int *b, *q;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&o, sizeof r);
  cudaMalloc(&b, sizeof hi);
  cudaMalloc(&q, sizeof ri);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemcpy(b, hi, sizeof hi, cudaMemcpyHostToDevice);
  static const unsigned shapes[][2] = {{16, 16}, {8, 16}, {32, 8}, {8, 32}, {32, 4},
                                       {4, 32},  {32, 32}, {64, 4}, {16, 8}, {128, 2}};
  for (const auto &[x, y] : shapes) {
    if (x * y > MOST)
      continue;
    const unsigned blocks = (n - 1) / (x * y) + 1;
    cudaMemset(o, 0, sizeof r);
    cudaMemset(q, 0, sizeof ri);
    tree<<<blocks, dim3(x, y)>>>(a, o, n);
    if (x <= 32)
      tile<<<blocks, dim3(x, y)>>>(b, q, n);
    cudaMemcpy(r, o, sizeof r, cudaMemcpyDeviceToHost);
    cudaMemcpy(ri, q, sizeof ri, cudaMemcpyDeviceToHost);
    long long all = 0;
    for (int i = 0; i < n; ++i)
      all = all * 31 + r[i] * 7 + ri[i];
    std::printf("%u x %u: %lld\n", x, y, all);
  }
}
