// Two shared arrays of one name, each in a block of its own.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=off -q --list --cuda-path=%cuda -- | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -DRCACHE_ANY_LAUNCH
// CHECK: rewritten k: s, s;
#include <cstdio>

__global__ void k(const float *in, float *out, int n) {
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  {
    __shared__ float s[128];
    s[t] = g < n ? in[g] : 0;
    __syncthreads();
    if (g < n)
      out[g] = s[127 - t];
  }
  {
    __shared__ int s[128];
    s[t] = g;
    __syncthreads();
    if (g < n)
      out[g] += s[t ^ 5];
  }
}

int main(int argc, char **) {
  const int n = 3000 + argc;
  float *a, *b, h[64];
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMemset(a, 0, n * sizeof(float));
  for (int i = 0; i < 64; ++i)
    h[i] = i * 0.7f;
  cudaMemcpy(a + 100, h, sizeof h, cudaMemcpyHostToDevice);
  k<<<(n + 127) / 128, 128>>>(a, b, n);
  cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
  printf("%g\n", h[3]);
}
