// REQUIRES: cuda-toolkit, nvcc
// RUN: %check run %s 2>&1 | FileCheck %s --allow-empty
// Squares that more than four sums take are left to ptxas, which fuses them within a
// block of machine code: behind a square root there is another one. What is executed
// here is what its machine code has.
// CHECK-NOT: ptxas
__global__ void roots(const float *a, float *o) {
  float x[12];
#pragma unroll
  for (int i = 0; i < 12; ++i)
    x[i] = a[i];
#pragma unroll
  for (int s = 0; s < 6; ++s) {
    float sum = 0.f;
#pragma unroll
    for (int k = 0; k <= 6; ++k)
      sum += x[s + k] * x[s + k];
    o[s] = sqrtf(sum);
  }
}
__global__ void sums(const float *a, float *o) {
  float x[12];
#pragma unroll
  for (int i = 0; i < 12; ++i)
    x[i] = a[i];
#pragma unroll
  for (int s = 0; s < 6; ++s) {
    float sum = 0.f;
#pragma unroll
    for (int k = 0; k <= 6; ++k)
      sum += x[s + k] * x[s + k];
    o[s] = sum;
  }
}
int main() {
  float *a, *o;
  cudaMalloc(&a, 48);
  cudaMalloc(&o, 24);
  cudaMemset(a, 0, 48);
  roots<<<1, 1>>>(a, o);
  sums<<<1, 1>>>(a, o);
  return cudaDeviceSynchronize();
}
