// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s --timeout=1 2>&1 | FileCheck %s
__global__ void kernel(const int *a, int *o, int n) {
  // CHECK: error: the launch takes longer than the time limit [timeout]
  while (*(const volatile int *)a != n)
    o[threadIdx.x] = n;
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
