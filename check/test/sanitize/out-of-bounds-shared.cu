// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s 2>&1 | FileCheck %s
__global__ void kernel(const int *a, int *o, int n) {
  __shared__ int other[8];
  __shared__ int tile[64];
  other[threadIdx.x % 8] = 0;
  tile[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  // CHECK: error: read of 4 bytes {{.*}} outside the block's shared arrays {{.*}}after 'kernel(int const*, int*, int)::tile' of 256 bytes
  o[threadIdx.x] = tile[threadIdx.x + 1];
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
