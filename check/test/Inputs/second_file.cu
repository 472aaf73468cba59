// The other half of run/files.cu.
#include "two_files.h"
__device__ int table[4] = {5, 6, 7, 8};
__device__ int fromSecond(int x) { return x + 100; }
static __global__ void more(int *p) { p[threadIdx.x] += both(2); }
int second(int *p) {
  more<<<1, 4>>>(p);
  return cudaDeviceSynchronize();
}
