// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s 2>&1 | FileCheck %s
__global__ void kernel(const int *a, int *o, int n) {
  __shared__ int s[64];
  int sum = 0;
  for (int i = 0; i < 3; ++i) { // one barrier where two are needed
    // CHECK: error: write after read: {{.*}} [shared-race]
    s[threadIdx.x] = a[threadIdx.x + i * 64];
    __syncthreads();
    sum += s[threadIdx.x ^ 33];
  }
  o[threadIdx.x] = sum;
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
