// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s 2>&1 | FileCheck %s
__global__ void kernel(const int *a, int *o, int n) {
  unsigned mask = threadIdx.x == 3 ? 0x0fffffffu : ~0u;
  // CHECK: error: this lane waits in a shuffle with mask 0x{{[0f]}}fffffff, but lane {{[0-9]+}}, which the mask names, waits in a shuffle with mask {{.*}} [differing-masks]
  o[threadIdx.x] = __shfl_sync(mask, a[threadIdx.x], 0);
}
int main() {
  int *in, *out;
  cudaMalloc(&in, 4 * 256);
  cudaMalloc(&out, 4 * 64);
  cudaMemset(in, 1, 4 * 256);
  cudaMemset(out, 0, 4 * 64);
  kernel<<<1, 28>>>(in, out, 50);
  return cudaDeviceSynchronize() != cudaSuccess;
}
