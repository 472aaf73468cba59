// REQUIRES: cuda-toolkit
// RUN: %check run %s | FileCheck %s
// RUN: %status 3 %check run %s --args wrong 2>&1 | FileCheck %s --check-prefix=WRONG
// A choice between memory and an index of the thread: the optimiser must not make
// one load of both, which would be a load from no memory of the device.
#include <cstdio>
__global__ void thread(const int *p, int *o) { o[threadIdx.x] = p ? *p : int(threadIdx.x); }
// WRONG: merged-loads.cu:[[#@LINE+1]]:{{.*}}error: read of 4 bytes {{.*}}[out-of-bounds]
__global__ void block(const int *p, int *o) { o[threadIdx.x] += p ? *p : int(blockDim.x); }
int main(int argc, char **) {
  int *o, *q, h[32], seven = 7;
  cudaMalloc(&o, 128);
  cudaMalloc(&q, 4);
  cudaMemcpy(q, &seven, 4, cudaMemcpyHostToDevice);
  thread<<<1, 32>>>(nullptr, o);
  block<<<1, 32>>>(nullptr, o);
  block<<<1, 32>>>(q + (argc > 1), o);
  cudaMemcpy(h, o, 128, cudaMemcpyDeviceToHost);
  printf("%d %d\n", h[0], h[31]);
  // CHECK: 39 70
  return cudaDeviceSynchronize();
}
