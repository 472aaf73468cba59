// Sums of shared elements that keep a warp from owning an array: nvcc is asked for them, too.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --self-check=quick -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// Without a compiler they stay.
// RUN: rcache-rewrite %s --force --self-check=off -o %t.off.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=OFF %s
// OFF-NOT: owned by a warp
#include "buffers.h"

// Elements are named by threadIdx.x itself.
// CHECK-DAG: rewrote 'norms' {{.*}}'red' owned by a warp
// CHECK-DAG: its sums say what is rounded
__global__ void norms(const float4 *__restrict__ x, float4 *__restrict__ y, float eps) {
  __shared__ float red[64];
  const unsigned at = blockIdx.x * 64u + threadIdx.x;
  const float4 v = x[at];
  red[threadIdx.x] = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  __syncthreads();
  for (unsigned s = 32; s >= 1; s >>= 1) {
    if (threadIdx.x < s)
      red[threadIdx.x] += red[threadIdx.x + s];
    __syncthreads();
  }
  const float k = rsqrtf(red[0] * (1.f / 256) + eps);
  y[at] = make_float4(v.x * k, v.y * k, v.z * k, v.w * k);
}

// A lattice of two arrays, each row from the one before.
// CHECK-DAG: rewrote 'lattice' {{.*}}'a' owned by a warp; 'b' owned by a warp
__global__ void lattice(const float2 *rates, float *value) {
  __shared__ float a[64], b[64];
  const int t = threadIdx.x;
  const float2 p = rates[blockIdx.x];
  a[t] = fmaxf(p.x - t, 0.f);
  __syncthreads();
  for (int i = 62; i > 0; i -= 2) {
    if (t < i)
      b[t] = p.x * a[t + 1] + p.y * a[t];
    __syncthreads();
    if (t < i - 1)
      a[t] = p.x * b[t + 1] + p.y * b[t];
    __syncthreads();
  }
  if (t == 0)
    value[blockIdx.x] = a[0];
}

int main() {
  Buf<float4> x(64 * 9, 1), y(64 * 9, 2);
  norms<<<9, 64>>>(x.d, y.d, 1e-3f);
  Buf<float2> r(12, 3);
  Buf<float> v(12, 4);
  lattice<<<12, 64>>>(r.d, v.d);
}
