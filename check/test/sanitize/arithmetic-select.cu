// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s 2>&1 | FileCheck %s
// RUN: %status 0 %check run %s -- -DSELECT
// The choice between two registers as arithmetic: the one that is not chosen
// takes part, and here it was never written in most lanes. A choice with ?: is
// no error. (With initialised registers the harness finds it: infinity times
// zero.)
__global__ void kernel(const float *a, float *o, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  float rc[2];
  rc[0] = a[g];
  if (lane < 4)
    rc[1] = a[g + 32];
  float sum = 0;
  for (int k = 0; k <= 4; ++k) {
#ifdef SELECT
    float mine = lane < k ? rc[1] : rc[0];
#else
    float mine = (lane < k) * rc[1] + (lane >= k) * rc[0];
#endif
    sum += __shfl_sync(~0u, mine, (lane + k) & 31);
  }
  // CHECK: [[@LINE+1]]:{{[0-9]+}}: error: a value that was never initialised is stored to global memory [uninitialised]
  o[g] = sum;
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 4 * 256);
  cudaMalloc(&out, 4 * 64);
  cudaMemset(in, 0, 4 * 256);
  kernel<<<1, 64>>>(in, out, 64);
  return cudaDeviceSynchronize() != cudaSuccess;
}
