// REQUIRES: cuda-toolkit
// A launch, or a program between two launches, that does not come to an end.
// RUN: %status 5 %check run %s --timeout=1 2>&1 | FileCheck %s
// RUN: %status 5 %check run %s --timeout=1 --args host 2>&1 \
// RUN:   | FileCheck %s --check-prefix=HOST
// RUN: %status 5 %check run %s --timeout=1 --args lock 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LOCK
// HOST: error: the program does not come to an end: no launch for 1 seconds (--timeout)
// LOCK: error: the launch takes longer than the time limit [timeout]
// LOCK: in kernel lock
__global__ void kernel(const int *a, int *o, int n) {
  // CHECK: error: the launch takes longer than the time limit [timeout]
  while (*(const volatile int *)a != n)
    o[threadIdx.x] = n;
}
__device__ int taken = 1;
__global__ void lock() {
  while (atomicCAS(&taken, 0, 1) != 0)
    ;
}
int main(int argc, char **argv) {
  int *in, *out;
  cudaMalloc(&in, 4 * 256);
  cudaMalloc(&out, 4 * 64);
  cudaMemset(in, 1, 4 * 256);
  cudaMemset(out, 0, 4 * 64);
  volatile int waiting = argc > 1 && argv[1][0] == 'h';
  if (argc > 1)
    lock<<<argv[1][0] == 'l', 64>>>();
  while (waiting)
    ;
  kernel<<<1, 64>>>(in, out, 50);
  return cudaDeviceSynchronize() != cudaSuccess;
}
