// REQUIRES: cuda-toolkit
// A program of two files; device code of one uses that of the other.
// RUN: %check run %s %S/../Inputs/second_file.cu -- -rdc=true -I%S/../Inputs | FileCheck %s
// RUN: %status 5 %check run %s -- -I%S/../Inputs 2>&1 | FileCheck %s --check-prefix=HALF
// CHECK: 0: 212 215 218 221
// HALF: 'table' is defined in another file
#include "two_files.h"
#include <cstdio>
__global__ void first(int *p) {
  p[threadIdx.x] = both(threadIdx.x) + table[1];
}
int second(int *);
int main() {
  int *p, h[4];
  cudaMalloc(&p, sizeof(h));
  first<<<1, 4>>>(p);
  printf("%d: ", second(p));
  cudaMemcpy(h, p, sizeof(h), cudaMemcpyDeviceToHost);
  printf("%d %d %d %d\n", h[0], h[1], h[2], h[3]);
}
