// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s 2>&1 | FileCheck %s
__global__ void kernel(const int *a, int *o, int n) {
  if (threadIdx.x < 16)
    // CHECK: error: this lane waits in a shuffle with mask 0xffffffff, but lane {{[0-9]+}}, which the mask names, waits at a barrier at {{.*}} [divergent-warp-op]
    o[threadIdx.x] = __shfl_sync(~0u, a[threadIdx.x], 0);
  else
    __syncthreads();
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
