// No launch is made up for a kernel that follows pointers which it is handed in memory.
// REQUIRES: cuda-toolkit
// RUN: not %check %s --rewritten=%s 2>&1 | FileCheck %s
// CHECK: indirect: an argument leads to pointers, and these are not made up
__global__ void indirect(float *const *rows, int n, int from, int to) {
  const float *a = rows[from];
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n)
    rows[to][g] = a[g];
}
