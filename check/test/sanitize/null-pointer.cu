// REQUIRES: cuda-toolkit
// What nvcc makes of the fault is none any more.
// RUN: %status 3 %check run %s --device-code=clang 2>&1 | FileCheck %s
__global__ void kernel(int *o) {
  int *p = nullptr;
  // CHECK: null-pointer.cu:[[#@LINE+2]]:{{.*}}error: write of 4 bytes at address 0x0: null pointer [out-of-bounds]
  if (threadIdx.x == 3)
    *p = 1;
  o[threadIdx.x] = 0;
}
int main() {
  int *o;
  cudaMalloc(&o, 32 * 4);
  kernel<<<1, 32>>>(o);
  return 0;
}
