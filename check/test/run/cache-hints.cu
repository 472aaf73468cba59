// Stores with a cache hint convert what they are given to what the pointer points at.
// REQUIRES: cuda-toolkit
// RUN: %check run %s --device-code=clang | FileCheck %s
// CHECK: 5 -3 7 2.5
#include <cstdio>

__global__ void k(int *p, float *q, unsigned v) {
  __stcs(p, v);
  __stcg(p + 1, -3l);
  __stwb(p + 2, 7.9);
  __stcs(q, 2.5);
}

int main() {
  int *p, h[3];
  float *q, f;
  cudaMalloc(&p, sizeof h);
  cudaMalloc(&q, sizeof f);
  k<<<1, 1>>>(p, q, 5u);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  cudaMemcpy(&f, q, sizeof f, cudaMemcpyDeviceToHost);
  printf("%d %d %d %g\n", h[0], h[1], h[2], f);
}
