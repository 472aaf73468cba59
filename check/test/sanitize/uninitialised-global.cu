// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s 2>&1 | FileCheck %s
__global__ void kernel(const int *a, int *o, int n) {
  __shared__ int s[64];
  if (threadIdx.x < n)
    s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  // CHECK: [[@LINE+2]]:{{[0-9]+}}: error: a value that was never initialised is stored to global memory [uninitialised]
  // CHECK: thread (50,0,0)
  o[threadIdx.x] = s[threadIdx.x];
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
