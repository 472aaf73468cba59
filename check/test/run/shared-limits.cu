// REQUIRES: cuda-toolkit
// Shared memory of a launch, static and dynamic together: up to 48 KiB, and what an
// attribute allows. More is an error of the launch.
// RUN: %check run %s | FileCheck %s
// CHECK: default: 40960 of 8192
// CHECK: 40960: no error
// CHECK: 40964: invalid argument
// CHECK: 49152: invalid argument
// CHECK: attribute for all 227 KiB: invalid argument
// CHECK: attribute: no error
// CHECK: 224256: no error
// CHECK: 224260: invalid argument
// CHECK: without: no error, invalid argument
#include <cstdio>
extern __shared__ int dynamic[];
__global__ void both(int *p, int n) {
  __shared__ int fixed[2048];
  fixed[threadIdx.x] = n;
  dynamic[n] = threadIdx.x;
  p[0] = fixed[0] + dynamic[n];
}
__global__ void alone(int *p, int n) {
  dynamic[n] = 1;
  p[0] = dynamic[n];
}
int main() {
  int *p;
  cudaMalloc(&p, 4);
  cudaFuncAttributes a;
  cudaFuncGetAttributes(&a, both);
  std::printf("default: %d of %zu\n", a.maxDynamicSharedSizeBytes, a.sharedSizeBytes);
  auto launch = [&](size_t bytes) {
    both<<<1, 1, bytes>>>(p, bytes / 4 - 1);
    std::printf("%zu: %s\n", bytes, cudaGetErrorString(cudaGetLastError()));
  };
  launch(40960);
  launch(40964);
  launch(49152);
  auto allow = [&](int bytes) {
    return cudaGetErrorString(
        cudaFuncSetAttribute(both, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  };
  std::printf("attribute for all 227 KiB: %s\n", allow(227 << 10));
  cudaGetLastError();
  std::printf("attribute: %s\n", allow((227 << 10) - 8192));
  launch((227 << 10) - 8192);
  launch((227 << 10) - 8192 + 4);
  alone<<<1, 1, 48 << 10>>>(p, 0);
  const cudaError_t e = cudaGetLastError();
  alone<<<1, 1, (48 << 10) + 4>>>(p, 0);
  std::printf("without: %s, %s\n", cudaGetErrorString(e), cudaGetErrorString(cudaGetLastError()));
}
