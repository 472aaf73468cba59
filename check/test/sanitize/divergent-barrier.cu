// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s 2>&1 | FileCheck %s
__global__ void kernel(const int *a, int *o, int n) {
  if (threadIdx.x < 32)
    __syncthreads();
  else
    // CHECK: [[@LINE+1]]:{{[0-9]+}}: error: threads of one block meet at different barriers: others wait at {{.*}}divergent-barrier.cu:5:{{[0-9]+}} [divergent-barrier]
    __syncthreads();
  o[threadIdx.x] = a[threadIdx.x];
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
