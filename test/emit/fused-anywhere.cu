// nvcc fuses a product with its sums when it has no other uses, wherever they stand:
// what matters is that each output's product has the uses it had.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: %python %src/scripts/fused_sums.py --rewritten --machine-code --nvcc=%cuda/bin/nvcc %t.cu | FileCheck --check-prefix=NVCC %s
// RUN: %nvcc -std=c++17 -Werror all-warnings -ptx %t.cu -o %t.ptx
// RUN: %clang-cuda -std=c++17 -c %t.cu -o %t.o2
//
// CHECK-DAG: rewrote 'potential'
// CHECK-DAG: rewrote 'fraction'
// CHECK-DAG: rewrote 'halves'
// Whatever ptxas makes of PTX is what the script's rule says:
// NVCC-DAG: potential: same
// NVCC-DAG: original: by the rule {'FADD': 20, 'FMUL': 4, 'FFMA': 44}, ptxas {{.*}}'FFMA': 44
// NVCC-DAG: rewritten: by the rule {'FADD': 320, 'FMUL': 64, 'FFMA': 704}, ptxas {{.*}}'FFMA': 704
// NVCC-DAG: fraction: same
// NVCC-DAG: halves: same
// NVCC: 3 same
#include <cuda_fp16.h>
#include <vector>
struct Atom {
  float x, y, z, q;
};
// 'col * h' stands in front of the loop and 'row * h' is the same in all rounds;
// a slot of the rewritten kernel has them in the block of their sums.
__global__ void potential(const Atom *a, int n, float *o, int nx, float h, float z) {
  __shared__ Atom c[64];
  int col = blockIdx.x * 16 + threadIdx.x, row = (blockIdx.y * 4 + threadIdx.y) * 4;
  int id = threadIdx.y * 16 + threadIdx.x;
  float x = col * h, e0 = 0, e1 = 0, e2 = 0, e3 = 0;
  for (int k = 0; k < n; k += 64) {
    c[id] = a[k + id];
    __syncthreads();
    for (int i = 0; i < 64; i++) {
      float dx = x - c[i].x, dz = z - c[i].z;
      float r2 = dx * dx + dz * dz + 1e-4f, q = c[i].q;
      float dy = row * h - c[i].y;
      e0 += q * rsqrtf(r2 + dy * dy);
      dy += h;
      e1 += q * rsqrtf(r2 + dy * dy);
      dy += h;
      e2 += q * rsqrtf(r2 + dy * dy);
      dy += h;
      e3 += q * rsqrtf(r2 + dy * dy);
    }
    __syncthreads();
  }
  o[row * nx + col] = e0;
  o[(row + 1) * nx + col] = e1;
  o[(row + 2) * nx + col] = e2;
  o[(row + 3) * nx + col] = e3;
}
// The product has two uses inside modff, of which one is a difference.
__global__ void fraction(const float *__restrict__ a, float *__restrict__ b,
                         int *__restrict__ e, int n) {
  __shared__ float s[140];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 4)
    s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  float ip, x = modff(s[t] * 0.37f, &ip);
  if (g < n) {
    b[g] = x;
    e[g] = (int)ip;
  }
}
// The product of one output is another output's, which stores it.
__global__ void halves(const __half *__restrict__ a, __half *__restrict__ b, __half w,
                       int n) {
  __shared__ __half s[260];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? a[g] : __half(0.f);
  if (t < 4)
    s[t + 256] = g + 256 < n ? a[g + 256] : __half(0.f);
  __syncthreads();
  if (g < n)
    b[g] = __habs(w * s[t]) - w * s[t + 1];
}
int main() {
  float *a, *o;
  int *e;
  cudaMalloc(&a, 4096 * 16);
  cudaMalloc(&o, 32 * 32 * 16);
  cudaMalloc(&e, 4096 * 4);
  std::vector<float> h(4096);
  unsigned s = 1;
  for (auto &v : h) {
    s = s * 1664525 + 1013904223;
    v = (s >> 8) / 16777216.f * 5;
  }
  cudaMemcpy(a, h.data(), 4096 * 4, cudaMemcpyHostToDevice);
  potential<<<dim3(2, 2), dim3(16, 4)>>>((Atom *)a, 128, o, 32, 0.01f, 0.5f);
  fraction<<<8, 128>>>(a, o, e, 1000);
  halves<<<8, 256>>>((__half *)a, (__half *)o, __half(0.3f), 2000);
  return cudaDeviceSynchronize();
}
