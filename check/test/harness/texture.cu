// REQUIRES: cuda-toolkit
// RUN: %status 5 %check %s 2>&1 | FileCheck %s
// RUN: %status 5 %check %s --prove 2>&1 | FileCheck %s
// The harness makes no texture objects: that launches with n = 0 are equal, and
// only they, is no answer.
// CHECK: kernel: no launch was found for which the original is defined and touches memory ({{[0-9]+}} tried; last: {{.*}}fetch from something that is no texture object
__global__ void kernel(cudaTextureObject_t t, float *o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    o[i] = tex1Dfetch<float>(t, i);
}
