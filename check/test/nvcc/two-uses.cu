// REQUIRES: cuda-toolkit, nvcc
// RUN: %check run %s --device-code=nvcc | FileCheck %s
// What ptxas does not fuse stays as it is behind its passes, too: a product that is
// converted as well as added, in one block. The rounded product loses what w adds.
// CHECK: sum 0
// A maximum with a number is that number, whatever is known of it.
// CHECK: max 0 1 2 3
#include <cmath>
#include <cstdio>
__global__ void product(const float *a, float *o) {
  const float p = a[0] * a[0];
  o[0] = (float)((double)p * 0.25) * 0.f + (p - a[1]);
}
__global__ void greatest(const double *__restrict__ a, double *__restrict__ o, int n) {
  __shared__ double s[128];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] - a[g] : 0.0;
  __syncthreads();
  if (g >= n)
    return;
  o[g + n] = fmax(s[t] + s[(t + 1) % 128], (double)g);
  o[g] = s[t] + s[(t + 1) % 128];
}
int main() {
  const float one = 1 + 0x1p-12f; // its square is 1 + 2^-11 + 2^-24
  float h[2] = {one, one * one}, *a, r = -1;
  cudaMalloc(&a, 12);
  cudaMemcpy(a, h, 8, cudaMemcpyHostToDevice);
  product<<<1, 1>>>(a, a + 2);
  cudaMemcpy(&r, a + 2, 4, cudaMemcpyDeviceToHost);
  std::printf("sum %g\n", r);
  double d[4] = {1, INFINITY, NAN, 2}, *b;
  cudaMalloc(&b, 96);
  cudaMemcpy(b, d, 32, cudaMemcpyHostToDevice);
  greatest<<<1, 128>>>(b, b + 4, 4);
  cudaMemcpy(d, b + 8, 32, cudaMemcpyDeviceToHost);
  std::printf("max %g %g %g %g\n", d[0], d[1], d[2], d[3]);
}
