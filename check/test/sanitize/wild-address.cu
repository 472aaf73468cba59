// An address that no memory of the host can have is out of bounds like any other.
//
// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s 2>&1 | FileCheck %s
// CHECK: error: read of 4 bytes at address 0x{{[0-9a-f]+}}: no device memory there
// CHECK: in kernel far
#include <cstdio>

__global__ void far(const float *in, float *out, unsigned long long at) {
  out[threadIdx.x] = in[at + threadIdx.x];
}

int main() {
  float *a;
  cudaMalloc(&a, 128);
  far<<<1, 32>>>(a, a, 0x1000080010004000ull);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
