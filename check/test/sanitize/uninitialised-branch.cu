// REQUIRES: cuda-toolkit
// What nvcc makes of the fault is none any more.
// RUN: %status 3 %check run %s --device-code=clang 2>&1 | FileCheck %s
__global__ void kernel(const int *a, int *o, int n) {
  int x;
  if (n > 100)
    x = a[0];
  // CHECK: error: a branch depends on a value that was never initialised [uninitialised]
  if (x == 3)
    atomicAdd(o, 1);
}
int main() {
  int *in, *out;
  cudaMalloc(&in, 4 * 256);
  cudaMalloc(&out, 4 * 64);
  cudaMemset(in, 1, 4 * 256);
  cudaMemset(out, 0, 4 * 64);
  kernel<<<1, 64>>>(in, out, 50);
  return cudaDeviceSynchronize() != cudaSuccess;
}
