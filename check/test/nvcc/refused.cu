// What nvcc does not compile is no rewritten program, whatever clang makes of it; where it
// does not compile the original either, both are clang's.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: %status 0 %check diff %s %s 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: sed '/^#define/d; s/OURS/__clang__/' %s > %t/rewritten.cu
// RUN: %status 5 %check diff %s %t/rewritten.cu 2>&1 | FileCheck %s
// RUN: %status 0 %check diff %t/rewritten.cu %t/rewritten.cu 2>&1 | FileCheck %s --check-prefix=NEITHER
// REQUIRES: cuda-toolkit, nvcc
// BOTH: equivalent: {{.*}}; device code is nvcc's
// CHECK: note: device code is clang's, not nvcc's: nvcc: {{.*}}rewritten.cu({{[0-9]+}}): error
// CHECK: nvcc compiles the original program, and not the rewritten one
// NEITHER: equivalent: {{.*}}; device code is clang's
#define OURS

__global__ void k(int *a) {
#ifdef OURS
  a[threadIdx.x] = threadIdx.x;
#else
  a[threadIdx.x] = nowhere;
#endif
}

int main() {
  int *a;
  cudaMalloc(&a, 32 * sizeof(int));
  k<<<1, 32>>>(a);
  return cudaDeviceSynchronize();
}
