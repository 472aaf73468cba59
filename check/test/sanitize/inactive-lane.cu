// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s 2>&1 | FileCheck %s
__global__ void kernel(const int *a, int *o, int n) {
  // CHECK: error: lane 0 reads lane 20, which is not named in the mask 0x0000ffff: the value is undefined [shuffle-inactive-lane]
  if (threadIdx.x < 16)
    o[threadIdx.x] = __shfl_sync(0xffff, a[threadIdx.x], threadIdx.x + 20);
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
