// REQUIRES: cuda-toolkit
// What cannot be executed here is no fault of the program: status 5, not 3.
// RUN: %status 5 %check run %s 2>&1 | FileCheck %s
// RUN: %status 3 %check run %s --args bounds
// RUN: %status 5 %check diff %s %s
__global__ void kernel(int *o) {
  // CHECK: unsupported.cu:[[#@LINE+1]]:{{.*}}error: this checker cannot execute 'asm({{.*}}movmatrix.
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
      : "=r"(o[0])
      : "r"(o[1]));
}
__global__ void bounds(int *o) { o[threadIdx.x] = 1; }
int main(int argc, char **) {
  int *o;
  cudaMalloc(&o, 4 * 256);
  if (argc > 1)
    bounds<<<1, 257>>>(o);
  cudaDeviceReset();
  cudaMalloc(&o, 4 * 256);
  kernel<<<1, 64>>>(o);
  return 0;
}
