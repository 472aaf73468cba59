// REQUIRES: cuda-toolkit, nvcc
// RUN: %check run %s 2>&1 | FileCheck %s
// RUN: %check run %s -- -ftz=true 2>&1 | FileCheck %s
// Products of sums are left to ptxas. What it makes of them is counted in its machine
// code, and told where it is not what was executed here.
// CHECK-NOT: not nvcc's
// CHECK-NOT: 'kernel(
// CHECK-NOT: 'mixed(
// CHECK: note: 'saturated(float const*, float*)': ptxas fuses 1 products that PTX leaves open, here it was 0
__global__ void kernel(const float *a, float *o) {
  const float p = a[0] * a[1];
  o[0] = p + a[2];
  o[1] = p - a[3];
}
__global__ void mixed(const float *a, float *o) {
  float p, q;
  asm("mul.f32 %0, %1, %2;" : "=f"(p) : "f"(a[0]), "f"(a[1]));
  asm("add.ftz.f32 %0, %1, %2;" : "=f"(q) : "f"(p), "f"(a[2]));
  o[0] = q;
}
__global__ void saturated(const float *a, float *o) {
  float p, q;
  asm("mul.f32 %0, %1, %2;" : "=f"(p) : "f"(a[0]), "f"(a[1]));
  asm("add.sat.f32 %0, %1, %2;" : "=f"(q) : "f"(p), "f"(a[2]));
  o[0] = q;
}
__global__ void narrowed(const double *d, float *o) { o[0] = d[0]; } // cvt.rn.ftz.f32.f64
int main() {
  float *a, *o;
  cudaMalloc(&a, 16);
  cudaMalloc(&o, 8);
  cudaMemset(a, 0, 16);
  kernel<<<1, 1>>>(a, o);
  mixed<<<1, 1>>>(a, o);
  saturated<<<1, 1>>>(a, o);
  narrowed<<<1, 1>>>((const double *)a, o);
  return cudaDeviceSynchronize();
}
