// Where no thread waits for another, a barrier still parts what is staged from what
// is read, and one branch from the next, for compilers: something of it stays where
// sums have products.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --coarsen=1 --distribution=cyclic --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff --device-code=nvcc %s %t.cu
// A candidate that keeps the array keeps the rounding of what is staged.
// RUN: rcache-rewrite %s -o %t.kept.cu --force --kernel=staged --candidate=4 --cuda-path=%cuda 2>&1 | FileCheck --check-prefix=KEPT %s
// RUN: %nvcc -std=c++17 -ptx %t.kept.cu -o %t.ptx
// RUN: sed -n '/entry.*staged_rc/,/^}/p' %t.ptx | FileCheck --check-prefix=PTX %s
// KEPT: rewrote 'staged' {{.*}}'s' kept shared; 1 barrier as __syncwarp
// PTX: mul.f32
// PTX-NOT: fma
// PTX: add.f32
//
// CHECK-DAG: rewrote 'guarded' {{.*}}'s' kept shared; 1 barrier as __syncwarp
#include <cstdio>
#include <vector>

// p is 0 or a product, and its sums are behind a branch on the same condition.
__global__ void guarded(const float *a, const float *c, float *b, float w, int n) {
  __shared__ float s[64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = g < n ? c[g] * 0.1f : 0.0f;
  const float p = g < n ? c[g] * w : 0.0f;
  __syncthreads();
  if (g >= n)
    return;
  float x = w;
  for (int k = 0; k < 3; ++k)
    x += p;
  b[g] = 0.1f * s[t] + 1.5f * x;
}

// The product would meet the sum in a register.
__global__ void staged(const float *a, const float *c, float *b, float w, int n) {
  __shared__ float s[64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = c[g] * w;
  __syncthreads();
  b[g] = s[t] + 1.7f;
}

static void show(const char *name, const float *b, int n) {
  std::vector<float> h(n);
  cudaMemcpy(h.data(), b, n * 4, cudaMemcpyDeviceToHost);
  unsigned hash = 0;
  for (float x : h) {
    unsigned bits;
    __builtin_memcpy(&bits, &x, 4);
    hash = hash * 31 + bits;
  }
  std::printf("%s %08x\n", name, hash);
}

int main() {
  const int n = 6400;
  std::vector<float> h(n);
  for (int i = 0; i < n; ++i)
    h[i] = float(i * 7919 % 10007) / 3 - 1000.f;
  float *a, *b;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
  guarded<<<100, 64>>>(a, a, b, 0.3f, n - 5);
  show("guarded", b, n - 5);
  staged<<<100, 64>>>(a, a, b, 0.3f, n);
  show("staged", b, n);
}
