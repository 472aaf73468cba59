// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s 2>&1 | FileCheck %s
// The second register of the halo is filled in too few lanes.
__global__ void kernel(const int *a, int *o, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  int rc[2];
  rc[0] = a[g];
  if (lane < 2) // should be 4
    rc[1] = a[g + 32];
  int sum = 0;
  for (int k = 0; k <= 4; ++k)
    sum += __shfl_sync(~0u, lane < k ? rc[1] : rc[0], (lane + k) & 31);
  // CHECK: [[@LINE+1]]:{{[0-9]+}}: error: a value that was never initialised is stored to global memory [uninitialised]
  o[g] = sum;
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
