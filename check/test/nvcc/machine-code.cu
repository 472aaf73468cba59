// REQUIRES: cuda-toolkit, nvcc
// RUN: %check run %s 2>&1 | FileCheck %s --check-prefix=SAME --allow-empty
// RUN: %check run %s -- -ftz=true 2>&1 | FileCheck %s
// A product of several sums is left to ptxas. What it makes of it is counted in its
// machine code, and told where it is not what was executed here.
// SAME-NOT: ptxas
// CHECK: note: 'kernel(float const*, float*)': ptxas fuses 2 products that PTX leaves open, here it was 0
__global__ void kernel(const float *a, float *o) {
  const float p = a[0] * a[1];
  o[0] = p + a[2];
  o[1] = p - a[3];
}
int main() {
  float *a, *o;
  cudaMalloc(&a, 16);
  cudaMalloc(&o, 8);
  cudaMemset(a, 0, 16);
  kernel<<<1, 1>>>(a, o);
  return cudaDeviceSynchronize();
}
