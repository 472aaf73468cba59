// REQUIRES: cuda-toolkit
// RUN: %status 3 %check run %s 2>&1 | FileCheck %s
// RUN: %status 3 %check run %s --schedule=reverse 2>&1 | FileCheck %s
// RUN: %status 3 %check run %s --schedule=random:5 2>&1 | FileCheck %s
// RUN: %status 0 %check run %s --args apart
// Half of the lanes shuffle among themselves and are gone before the others
// have stopped waiting for them. Lanes that have left before may be named.
__global__ void kernel(int *o) {
  unsigned mask = threadIdx.x < 16 ? 0xffffffffu : 0xffff0000u;
  // CHECK: differing-masks-exited.cu:[[#@LINE+1]]:{{.*}}error: this lane calls a shuffle with mask 0xffffffff, but lane 16, which the mask names, did with 0xffff0000 [differing-masks]
  o[threadIdx.x] = __shfl_xor_sync(mask, threadIdx.x, 1);
}
__global__ void apart(int *o) {
  int v = threadIdx.x;
  unsigned mask = 0xffffffffu;
  for (int round = 0; round < 3; ++round) {
    v = __shfl_xor_sync(mask, v, 1);
    if (threadIdx.x >= 16)
      break;
    if (round)
      mask = 0x0000ffffu;
  }
  o[threadIdx.x] = v;
}
int main(int argc, char **) {
  int *o;
  cudaMalloc(&o, 32 * 4);
  if (argc > 1)
    apart<<<1, 32>>>(o);
  else
    kernel<<<1, 32>>>(o);
  return cudaDeviceSynchronize();
}
