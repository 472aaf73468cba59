// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s 2>&1 | FileCheck %s
__global__ void kernel(const int *a, int *o, int n) {
  // CHECK: [[@LINE+2]]:{{[0-9]+}}: error: write of 4 bytes at address {{.*}}: 0 bytes after the end of an allocation of 256 bytes [out-of-bounds]
  // CHECK: thread (63,0,0)
  o[threadIdx.x + 1] = a[threadIdx.x];
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
