// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s --args sum 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: %status 3 %check run %s --device-code=clang --args flag 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: %status 0 %check run %s --args padding
// What is computed from a byte that was never written is not known, even if
// most of its bits are; padding that is copied along is no error.
struct Padded {
  unsigned char a;
  int b;
};
__global__ void sum(const unsigned char *in, int *o) {
  __shared__ unsigned char s[34];
  s[threadIdx.x + 1] = in[threadIdx.x];
  __syncthreads();
  // SUM: uninitialised-bytes.cu:[[#@LINE+2]]:{{.*}}a value that was never initialised is stored to global memory
  // SUM: in kernel sum, launch 0, block (0,0,0), thread (0,0,0)
  o[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 1];
}
__global__ void flag(const unsigned char *in, int *o) {
  int x;
  if (in[threadIdx.x] > 100)
    x = 1;
  // FLAG: a value that was never initialised is stored to global memory
  o[threadIdx.x] = x > 0 ? 1 : 0;
}
__global__ void padding(Padded *o) {
  __shared__ Padded s[32];
  Padded p;
  p.a = threadIdx.x;
  p.b = 3;
  s[threadIdx.x] = p;
  __syncthreads();
  o[threadIdx.x] = s[31 - threadIdx.x];
}
int main(int, char **argv) {
  unsigned char *in;
  int *o;
  cudaMalloc(&in, 32);
  cudaMalloc(&o, 32 * sizeof(Padded));
  cudaMemset(in, 1, 32);
  if (argv[1][0] == 's')
    sum<<<1, 32>>>(in, o);
  else if (argv[1][0] == 'f')
    flag<<<1, 32>>>(in, o);
  else
    padding<<<1, 32>>>((Padded *)o);
  return cudaDeviceSynchronize();
}
