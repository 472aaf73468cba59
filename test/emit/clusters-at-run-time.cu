// A kernel that may have been told at run time to run in clusters is asked at each launch
// whether it was: some grids would fail then.
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// CHECK: rewrote 'sum3'
// TEXT: launches<0>(sum3,
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
void run(const int *a, int *o, int n) {
  cudaFuncSetAttribute(sum3, cudaFuncAttributeRequiredClusterWidth, 2);
  sum3<<<(n + 127) / 128, 128>>>(a, o, n);
}
