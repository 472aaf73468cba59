// Results of a type that cannot be declared without a value are stored one by one.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=off -q --list --cuda-path=%cuda -- | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -DRCACHE_ANY_LAUNCH
// CHECK: rewritten k: s
#include <cstdio>

struct Distance {
  float v;
  __host__ __device__ Distance(float v) : v(v) {}
};

__global__ void k(const float *__restrict__ in, Distance *__restrict__ out, int n) {
  __shared__ float s[130];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int i = t; i < 130; i += 128)
    s[i] = g - t + i < n ? in[g - t + i] : 0;
  __syncthreads();
  if (g < n)
    out[g] = Distance(s[t + 2] - s[t]);
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
  k<<<(n + 127) / 128, 128>>>(a, reinterpret_cast<Distance *>(b), n);
  cudaMemcpy(h, b + 100, sizeof h, cudaMemcpyDeviceToHost);
  printf("%g\n", h[3]);
}
