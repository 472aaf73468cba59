// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s 2>&1 | FileCheck %s
// The listing of the literature: lanes that returned are read all the same.
__global__ void kernel(const int *a, int *o, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  if (g >= n)
    return;
  int rc[2] = {a[g], 0};
  if (lane < 4)
    rc[1] = a[g + 32];
  unsigned mask = __activemask();
  int sum = 0;
  for (int k = 0; k <= 4; ++k)
    // CHECK: [[@LINE+1]]:{{[0-9]+}}: error: lane 17 reads lane 18, which has exited: the value is undefined [shuffle-inactive-lane]
    sum += __shfl_sync(mask, lane < k ? rc[1] : rc[0], (lane + k) & 31);
  // CHECK: in kernel kernel, launch 0, block (0,0,0), thread (49,0,0)
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
