// REQUIRES: cuda-toolkit
// What nvcc makes of the fault is none any more.
// RUN: %status 3 %check run %s --device-code=clang 2>&1 | FileCheck %s
__global__ void kernel(const int *a, int *o, int n) {
  // CHECK: error: read of {{[0-9]+}} bytes {{.*}}: not a multiple of 16 [misaligned]
  int4 v = *reinterpret_cast<const int4 *>(a + 1);
  o[threadIdx.x] = v.x;
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
