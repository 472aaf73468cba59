// REQUIRES: cuda-toolkit
// RUN: %check %s --trials=20 2>&1 | FileCheck %s
// main calls what another file has: the launches before that are seen, the
// kernel's own block is the only one for which it is defined.
// CHECK: equivalent: kernel: {{[1-9][0-9]*}} launches compared
#include <cstdlib>
int elsewhere(int);
extern int setting;
__global__ void kernel(int *o) {
  __shared__ int s[56];
  s[threadIdx.x] = o[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = s[55 - threadIdx.x];
}
int main() {
  int *o;
  cudaMalloc(&o, 56 * sizeof(int));
  const dim3 block(56);
  if (setting)
    kernel<<<1, block>>>(o);
  return elsewhere(3);
}
