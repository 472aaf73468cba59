// REQUIRES: cuda-toolkit, nvcc
// RUN: %check run %s --device-code=clang > %t.clang
// RUN: %check run %s --device-code=nvcc > %t.nvcc 2>&1
// RUN: diff %t.clang %t.nvcc
// RUN: FileCheck %s < %t.nvcc
// RUN: %status 3 %check run %s --device-code=nvcc --args fault 2>&1 | FileCheck %s --check-prefix=FAULT
// What PTX has: static names, structures by value, local arrays with computed
// indices, functions that are not inlined, tables of branches, variables with
// addresses in them, texts, bytes with signs, shared memory of both sorts.
// CHECK: hello 77
// CHECK: sum
// CHECK-NOT: note
// FAULT: ptx.cu:[[# @LINE + 41]]:{{[0-9]+}}: error: write of 4 bytes
#include <cstdio>
#include <cstring>
static __constant__ float taps[5] = {1, 2, 3, 4, 5};
__device__ int counter = 3;
__device__ float table[3] = {1.f, 2.5f, -3.f};
__device__ int *where = &counter;
struct P {
  float x;
  double y;
  int z[3];
};
__device__ __noinline__ float callee(P p, int i) { return p.x + p.z[i]; }
namespace {
__global__ void anonymous(float *o) { o[threadIdx.x] = taps[threadIdx.x % 5]; }
} // namespace
static __global__ void reversed(float *o, int n) {
  extern __shared__ float s[];
  s[threadIdx.x] = o[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = s[n - 1 - threadIdx.x];
}
__global__ void __launch_bounds__(256, 2)
    kernel(P p, float *o, const unsigned char *b, const signed char *c, int n, int way) {
  float loc[8];
  for (int i = 0; i < 8; ++i)
    loc[i] = o[i * 2 + threadIdx.x];
  float v = loc[n & 7] + callee(p, n % 3) + b[n % 4] + c[n % 4] + p.z[n % 3] + table[n % 3] + *where;
  if (n == 77 && threadIdx.x == 0)
    printf("hello %d\n", n);
  __syncthreads();
  switch (way) {
  case 0: v = sinf(v * 1000); break;
  case 1: v = expf(v / 100); break;
  case 2: v = v / 3; break;
  case 3: v = sqrtf(fabsf(v)); break;
  case 4: v = __shfl_xor_sync(~0u, v, 3); break;
  case 5: v = __popc(__ballot_sync(~0u, v > 10)); break;
  case 6: v = n % (way + threadIdx.x) - (n / (int)(threadIdx.x + 1)); break;
  case 7: v = powf(fabsf(v), 0.3f); break;
  }
  o[threadIdx.x + (way == 99 ? 1000000 : 0)] = v;
}
int main(int argc, char **argv) {
  float h[256], *o;
  unsigned char b[4] = {1, 200, 3, 255}, *db;
  signed char c[4] = {-1, 100, -128, 5}, *dc;
  for (int i = 0; i < 256; ++i)
    h[i] = i * 0.37f;
  cudaMalloc(&o, sizeof(h));
  cudaMalloc(&db, 4);
  cudaMalloc(&dc, 4);
  cudaMemcpy(db, b, 4, cudaMemcpyHostToDevice);
  cudaMemcpy(dc, c, 4, cudaMemcpyHostToDevice);
  double sum = 0;
  for (int way = 0; way < 9; ++way)
    for (int n = 70; n < 80; ++n) {
      cudaMemcpy(o, h, sizeof(h), cudaMemcpyHostToDevice);
      kernel<<<1, 64>>>(P{1.5f, 2.5, {3, 4, 5}}, o, db, dc, n,
                        argc > 1 && !strcmp(argv[1], "fault") ? 99 : way);
      reversed<<<1, 64, 64 * sizeof(float)>>>(o, 64);
      float r[64];
      cudaMemcpy(r, o, sizeof(r), cudaMemcpyDeviceToHost);
      for (int i = 0; i < 64; ++i)
        sum += r[i] * (i + 1);
    }
  anonymous<<<1, 32>>>(o);
  cudaMemcpy(h, o, 128, cudaMemcpyDeviceToHost);
  std::printf("sum %.9g %g\n", sum, h[3]);
}
