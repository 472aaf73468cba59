// REQUIRES: nvcc
// RUN: %check run %s 2>&1 | FileCheck %s
// The words of a vote may come in another order, as CUB writes them.
// CHECK: {{^}}49249249
// CHECK-NOT: note:
#include <cstdio>
__global__ void kernel(unsigned *o) {
  unsigned r;
  asm volatile("{\n  .reg .pred p;\n  setp.eq.u32 p, %1, 0;\n"
               "  vote.ballot.sync.b32 %0, p, 0xffffffff;\n}"
               : "=r"(r)
               : "r"(threadIdx.x % 3));
  o[threadIdx.x] = r;
}
int main() {
  unsigned *o, h[32];
  cudaMalloc(&o, sizeof(h));
  kernel<<<1, 32>>>(o);
  cudaMemcpy(h, o, sizeof(h), cudaMemcpyDeviceToHost);
  printf("%x\n", h[5]);
}
