// Threads that all write one value leave it there; those that write several do not.
// REQUIRES: cuda-toolkit
// RUN: %check run %s -- -DSAME=1
// RUN: %check run %s --schedule=reverse -- -DSAME=1
// RUN: %status 3 %check run %s -- -DSAME=0 2>&1 | FileCheck %s
// CHECK: error: two threads write: {{.*}} [shared-race]
// CHECK-NOT: read after write
__global__ void kernel(const int *a, int *o) {
  __shared__ int any;
  __shared__ short half[2];
  if (threadIdx.x == 0)
    any = 0, half[0] = half[1] = 0;
  __syncthreads();
  if (a[threadIdx.x] > 0) {
    any = SAME ? 7 : threadIdx.x;
    half[threadIdx.x & 1] = 3;
  }
  __syncthreads();
  o[threadIdx.x] = any + half[0];
}
int main() {
  int h[64];
  for (int i = 0; i < 64; ++i)
    h[i] = i;
  int *a, *o;
  cudaMalloc(&a, 256);
  cudaMalloc(&o, 256);
  cudaMemcpy(a, h, 256, cudaMemcpyHostToDevice);
  kernel<<<1, 64>>>(a, o);
  return cudaDeviceSynchronize() != cudaSuccess;
}
