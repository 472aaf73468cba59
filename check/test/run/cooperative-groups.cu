// REQUIRES: cuda-toolkit
// RUN: %check run %s | FileCheck %s
// RUN: %check run %s --schedule=reverse | FileCheck %s
// RUN: %check run %s --schedule=random:7 | FileCheck %s
// Thread blocks, tiles of 4 to 32, and coalesced groups.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

template <int N> __device__ int tileSum(cg::thread_block b, int v) {
  cg::thread_block_tile<N> t = cg::tiled_partition<N>(b);
  for (int d = N / 2; d; d /= 2)
    v += t.shfl_down(v, d);
  v = t.shfl(v, 0);
  t.sync();
  return v * 2 + t.any(t.thread_rank() == N - 1) + t.all(t.thread_rank() == 0);
}
__global__ void groups(int *o) {
  cg::thread_block b = cg::this_thread_block();
  __shared__ int s[64];
  s[b.thread_rank()] = b.thread_rank();
  b.sync();
  int v = s[63 - b.thread_rank()];
  cg::sync(b);
  int *p = o + b.thread_rank() * 4;
  p[0] = tileSum<4>(b, v);
  p[1] = tileSum<16>(b, v);
  p[2] = tileSum<32>(b, v);
  if (v % 2 == 0) {
    cg::coalesced_group c = cg::coalesced_threads();
    p[3] = c.shfl(v, 0) >= 0 && c.size() <= 32;
  } else
    p[3] = 1;
}
int main() {
  static int h[256];
  int *d, bad = 0;
  cudaMalloc(&d, sizeof(h));
  groups<<<1, 64>>>(d);
  cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
  for (int t = 0; t < 64; ++t) {
    int k = 0;
    for (int n : {4, 16, 32}) {
      int base = t / n * n, sum = 0;
      for (int i = 0; i < n; ++i)
        sum += 63 - (base + i);
      bad += h[t * 4 + k++] != sum * 2 + 1;
    }
    bad += h[t * 4 + 3] != 1;
  }
  printf("bad %d, %s\n", bad, cudaGetErrorString(cudaGetLastError()));
  // CHECK: bad 0, no error
}
