// A kernel that no launch in chevrons is for has a launch function for them all the same,
// which nothing calls: no warning of the compiler.
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: %nvcc -std=c++17 -Werror all-warnings -ptx %t.cu -o %t.ptx
// CHECK: rewrote 'sum3' (1 launch)
__global__ void sum3(const int *__restrict__ a, int *__restrict__ o, int n) {
  __shared__ int s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0;
  if (t < 2)
    s[128 + t] = g + 128 < n ? a[g + 128] : 0;
  __syncthreads();
  if (g < n)
    o[g] = s[t] + s[t + 1] + s[t + 2];
}
cudaError_t run(const int *a, int *o, int n) {
  void *args[] = {&a, &o, &n};
  return cudaLaunchKernel((const void *)sum3, dim3((n + 127) / 128), dim3(128), args, 0, 0);
}
