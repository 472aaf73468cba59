// Where staging gives a constant out of range, a compiler may multiply by
// another constant inside the branch that loads; the sum would then round
// twice, where it rounded once.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --exchange=reload --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu
// RUN: sed -e 's/asm("" : "+[fd]"(x) : "r"(slot));//' %t.cu > %t.plain.cu
// RUN: not rcache-check diff %s %t.plain.cu
// RUN: %if slow %{ %nvcc -std=c++17 -Werror all-warnings -ptx %t.cu -o %t.ptx %}
// RUN: %nvcc -std=c++17 -ptx %t.cu -o - | FileCheck %s --check-prefix=PTX
//
// CHECK-DAG: rewrote 'weights'
// CHECK-DAG: rewrote 'scaled'
// No product of the rewritten kernels is left alone.
// PTX-NOT: mul.f32
#include <cstdio>
#include <vector>
#define TPB 128
__global__ void weights(const float *in, float *out, int len) {
  __shared__ float buf[TPB + 4];
  int gi = blockIdx.x * TPB + threadIdx.x;
  buf[threadIdx.x + 2] = gi < len && gi % 3 ? in[2 * gi] : 0.f;
  if (threadIdx.x < 2) {
    int l = gi - 2, r = gi + TPB;
    buf[threadIdx.x] = l >= 0 && l % 3 ? in[2 * l] : 0.f;
    buf[threadIdx.x + TPB + 2] = r < len && r % 3 ? in[2 * r] : 0.f;
  }
  __syncthreads();
  if (gi < len) {
    float a = 0;
    for (int d = 0; d < 5; ++d)
      a += buf[threadIdx.x + d] * (1.0f + d);
    out[gi] = a;
  }
}
__device__ float third(float v) { return v * 0.3f; }
__global__ void scaled(const float *in, float *out, int len) {
  __shared__ float buf[TPB + 4];
  int gi = blockIdx.x * TPB + threadIdx.x;
  buf[threadIdx.x + 2] = gi < len && gi % 3 ? in[2 * gi] : 0.f;
  if (threadIdx.x < 2) {
    int l = gi - 2, r = gi + TPB;
    buf[threadIdx.x] = l >= 0 && l % 3 ? in[2 * l] : 0.f;
    buf[threadIdx.x + TPB + 2] = r < len && r % 3 ? in[2 * r] : 0.f;
  }
  __syncthreads();
  if (gi < len) {
    float a = 0.1f;
    for (int d = 0; d < 5; ++d)
      a += third(buf[threadIdx.x + d]);
    out[gi] = a;
  }
}
int main() {
  const int n = 5000;
  std::vector<float> h(2 * n); // every other one, so that no vectors are loaded; a third is
                              // left out, so that no window is inside
  unsigned x = 1;
  for (auto &v : h) {
    x = x * 1664525u + 1013904223u;
    v = float(int(x >> 8) - (1 << 23)) * 1.1920929e-7f;
  }
  float *a, *b;
  cudaMalloc(&a, 2 * n * 4);
  cudaMalloc(&b, n * 4);
  cudaMemcpy(a, h.data(), 2 * n * 4, cudaMemcpyHostToDevice);
  weights<<<(n + TPB - 1) / TPB, TPB>>>(a, b, n);
  scaled<<<(n + TPB - 1) / TPB, TPB>>>(a, b, n);
  return cudaDeviceSynchronize();
}
