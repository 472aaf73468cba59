// REQUIRES: cuda-toolkit
// Products are fused with sums as nvcc fuses them; --fp-contract=off and nvcc's
// -fmad=false keep them apart. What is written to round by itself always does,
// beside an equal operator too.
// RUN: %check run %s | FileCheck --check-prefix=FAST %s
// RUN: %check run %s --fp-contract=fast -- -fmad=true | FileCheck --check-prefix=FAST %s
// RUN: %check run %s --fp-contract=off | FileCheck --check-prefix=OFF %s
// RUN: %check run %s -- --fmad=false | FileCheck --check-prefix=OFF %s
// FAST: 3.09944e-08 -3.09944e-08 3.09944e-08 0 0 3.09944e-08
// OFF: 0 0 0 0 0 3.09944e-08
#include <cstdio>
__device__ float product(float a, float b) { return a * b; }
__global__ void k(float *o, float a, float b, float c, float d) {
  o[0] = a * b + c;
  o[1] = -c - a * b;
  o[2] = product(a, b) + c;
  o[3] = __fmul_rn(a, d) + c;
  o[4] = __fadd_rn(a * d, c);
  o[5] = fmaf(a, b, c);
}
int main() {
  float *d, h[6];
  cudaMalloc(&d, sizeof(h));
  k<<<1, 1>>>(d, 1.1f, 1.3f, -1.43f, 1.3f);
  cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
  for (float x : h)
    printf("%g ", x + 0.0f);
  printf("\n");
}
