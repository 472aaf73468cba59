// REQUIRES: cuda-toolkit, nvcc
// RUN: sed -e 's/a\[0\] - p/fmaf(-a[1], a[2], a[0])/' -e 's/p + 3/fmaf(a[1], a[2], 3)/' %s > %t.cu
// RUN: %check diff %s %t.cu -- -ftz=true 2>&1 | FileCheck %s
// RUN: sed -e 's/a\[1\] \* a\[2\]/__fmul_rn(a[1], a[2])/' %s > %t.apart.cu
// RUN: %status 1 %check diff %s %t.apart.cu -- -ftz=true
// With -ftz=true as without, ptxas fuses a product that PTX leaves open with all its
// sums, and none that is rounded by name.
// CHECK: equivalent: 1 launches compared
__global__ void kernel(const float *a, float *o) {
  const int i = threadIdx.x;
  a += 3 * i;
  const float p = a[1] * a[2];
  o[i] = a[0] - p;
  o[32 + i] = p + 3;
}
int main() {
  float h[96], *a, *o;
  for (int i = 0; i < 96; ++i)
    h[i] = 1.f + i * i % 31 / 7.f;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&o, 64 * sizeof(float));
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  kernel<<<1, 32>>>(a, o);
  return cudaDeviceSynchronize();
}
