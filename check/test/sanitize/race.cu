// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s 2>&1 | FileCheck %s
__global__ void kernel(const int *a, int *o, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  // CHECK: [[@LINE+1]]:{{[0-9]+}}: error: read after write: thread ({{[0-9]+}},0,0) accessed the same 4 bytes of shared memory
  o[threadIdx.x] = s[63 - threadIdx.x];
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
