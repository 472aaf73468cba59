// A launch in an argument of another launch stays; the outer one is replaced.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=off --cuda-path=%cuda -- 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -DRCACHE_ANY_LAUNCH
// CHECK: rewrote 'k' (1 launch, 1 left as written)
// CHECK: this launch is left as written: the launch stands in the text of another one
#include <cstdio>

__global__ void k(const float *in, float *out, int n) {
  __shared__ float s[130];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int i = t; i < 130; i += 128)
    s[i] = g - t + i < n ? in[g - t + i] : 0;
  __syncthreads();
  if (g < n)
    out[g] = s[t + 2] - s[t];
}

int main(int argc, char **) {
  const int n = 3000 + argc;
  float *a, *b, h[64];
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMemset(a, 0, n * sizeof(float));
  for (int i = 0; i < 64; ++i)
    h[i] = i * i * 0.7f;
  cudaMemcpy(a + 100, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemset(b, 0, n * sizeof(float));
  const int grid = (n + 127) / 128;
  k<<<grid, 128>>>(a, [&] { k<<<grid, 128>>>(b, a, 200); return b; }(), n);
  cudaMemcpy(h, b + 100, sizeof h, cudaMemcpyDeviceToHost);
  printf("%g\n", h[3]);
}
