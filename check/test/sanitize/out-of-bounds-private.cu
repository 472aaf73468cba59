// REQUIRES: cuda-toolkit
// What nvcc makes of the fault is none any more.
// RUN: %status 3 %check run %s --device-code=clang 2>&1 | FileCheck %s
__global__ void kernel(const int *a, int *o, int n) {
  int p[8];
  for (int i = 0; i < 8; ++i)
    p[i] = a[i] + i;
  // CHECK: error: access of 4 bytes at offset 32 of a private array of 32 bytes [out-of-bounds]
  o[threadIdx.x] = p[n - 50 + threadIdx.x];
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
