// Volumes whose axes change places: the rows of a thread's outputs start at products of
// its number along y.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
// RUN: %if slow %{ %nvcc -std=c++17 -Werror all-warnings -I%S/Inputs -ptx %t.cu -o %t.ptx %}
//
// SAME: equivalent: 4 launches {{.*}}; 4 by a rewritten kernel
#include "program.h"
// CHECK-DAG: rewrote 'xz'
__global__ void xz(const float *in, float *out, int n) {
  __shared__ float t[16][16];
  t[threadIdx.y][threadIdx.x] = in[((blockIdx.z * 16 + threadIdx.y) * n + blockIdx.y) * n + blockIdx.x * 16 + threadIdx.x];
  __syncthreads();
  out[((blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y) * n + blockIdx.z * 16 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
// CHECK-DAG: rewrote 'ofUnsigned'
__global__ void ofUnsigned(const float *in, float *out, unsigned n) {
  __shared__ float t[16][16];
  t[threadIdx.y][threadIdx.x] = in[((blockIdx.z * 16 + threadIdx.y) * n + blockIdx.y) * n + blockIdx.x * 16 + threadIdx.x];
  __syncthreads();
  out[((blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y) * n + blockIdx.z * 16 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
// CHECK-DAG: rewrote 'ofWide'
__global__ void ofWide(const float *in, float *out, long long n) {
  __shared__ float t[16][16];
  t[threadIdx.y][threadIdx.x] = in[((blockIdx.z * 16 + threadIdx.y) * n + blockIdx.y) * n + blockIdx.x * 16 + threadIdx.x];
  __syncthreads();
  out[((blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y) * n + blockIdx.z * 16 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
// CHECK-DAG: rewrote 'squared'
__global__ void squared(const float *in, float *out, int n) {
  __shared__ float t[16][16];
  t[threadIdx.y][threadIdx.x] = in[(blockIdx.z * 16 + threadIdx.y) * n * n + blockIdx.y * n + blockIdx.x * 16 + threadIdx.x];
  __syncthreads();
  out[n * n * (blockIdx.x * 16 + (int)threadIdx.y) + n * blockIdx.y + blockIdx.z * 16 + (int)threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
int main() {
  const int n = 48;
  Buffer<float> in(randoms<float>(n * n * n)), out(n * n * n);
  xz<<<dim3(3, n, 3), dim3(16, 16)>>>(in.Data, out.Data, n);
  out.show("xz");
  ofUnsigned<<<dim3(3, n, 3), dim3(16, 16)>>>(in.Data, out.Data, n);
  out.show("ofUnsigned");
  ofWide<<<dim3(3, n, 3), dim3(16, 16)>>>(in.Data, out.Data, n);
  out.show("ofWide");
  squared<<<dim3(3, n, 3), dim3(16, 16)>>>(in.Data, out.Data, n);
  out.show("squared");
}
