// REQUIRES: cuda-toolkit
// RUN: %status 0 %check diff %s %s 2>&1 | FileCheck %s
// Host memory that was never written is the same in both programs; time() and
// clock() are there without a header, as with nvcc.
// CHECK: equivalent: 1 launches compared
#include <cstdlib>
__global__ void kernel(const float *a, float *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    o[i] = a[i] + 1;
}
int main() {
  const int n = 2000;
  // Something was there before.
  char *old = (char *)malloc(n * 4);
  for (int i = 0; i < n * 4; ++i)
    old[i] = (char)((size_t)old >> i % 40);
  free(old);
  float *h = (float *)malloc(n * 4), *a, *o;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&o, n * 4);
  cudaMemcpy(a, h, n * 4, cudaMemcpyHostToDevice);
  kernel<<<10, 200>>>(a, o, n);
  cudaDeviceSynchronize();
  return time(nullptr) == 0 || clock() < 0;
}
