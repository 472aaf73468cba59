// REQUIRES: cuda-toolkit
// RUN: %check %s --timeout=1 --trials=4 2>&1 | FileCheck %s
// A main that does not come to an end is left after a time; the launches until
// then are known.
// CHECK: equivalent: kernel: {{[1-9][0-9]*}} launches compared
__global__ void kernel(int *o) {
  __shared__ int s[56];
  s[threadIdx.x] = o[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = s[55 - threadIdx.x];
}
int main() {
  int *o;
  cudaMalloc(&o, 56 * sizeof(int));
  kernel<<<1, 56>>>(o);
  for (volatile int i = 0;; i = i + 1)
    ;
}
