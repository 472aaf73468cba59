// Flags of nvcc that have a value where clang's of the same name have none.
// REQUIRES: cuda-toolkit
// RUN: %check run %s -- -Werror all-warnings | FileCheck %s
// CHECK: ran
#include <cstdio>
__global__ void k(int *a) { a[threadIdx.x] = 1; }
int main() {
  int *a;
  cudaMalloc(&a, 400);
  k<<<1, 100>>>(a);
  printf("%s\n", cudaDeviceSynchronize() == cudaSuccess ? "ran" : "failed");
}
