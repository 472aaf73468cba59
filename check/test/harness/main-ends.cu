// A main that ends without `return`, behind a loop, ends in a harness as well, where it has
// another name: it was compiled to a loop without an end, and listened to for ten seconds.
// RUN: timeout 8 %check %s --rewritten=%s --trials=6 2>&1 | FileCheck %s
// CHECK: equivalent: twice:
#include <cstdlib>
#include <cuda_runtime.h>
__global__ void twice(const float *in, float *out, int n) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n)
    out[g] = in[g] * 2;
}
int main() {
  for (int n : {255, 256, 1000}) {
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    twice<<<(n + 255) / 256, 256>>>(in, out, n);
  }
}
