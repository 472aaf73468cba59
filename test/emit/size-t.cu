// Indices of unsigned 64-bit types: what would wrap below zero is known to be
// outside, as no array has 2^63 elements (each launch checks the parameter).
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s --input-file=%t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
//
// CHECK-DAG: rewrote 'wrapping<256>' {{.*}} 's0' {{.*}} registers
// CHECK-DAG: rewrote 'st1' {{.*}} registers
// CHECK-DAG: rewrote 'st3' {{.*}} registers
// CHECK-DAG: rewrote 'gsu' {{.*}} registers
// TEXT: n <= 0xffffffffffull
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
//
#include "buffers.h"
#include <cstdint>
using index_t = std::size_t;
using u32 = std::uint32_t;
constexpr u32 kBlock = 128u;
constexpr index_t kR = 3u;
template <int BLOCK>
__global__ void wrapping(const float2 *in0, float *out, size_t n) {
__shared__ float2 s0[BLOCK + 4];
const int tid = threadIdx.x;
const size_t base = blockIdx.x * BLOCK;
const size_t g = base + tid;
{
  const size_t x = base + (size_t)(tid + 2) - 2;
  if (x < n)
    s0[tid + 2] = in0[x];
  else
    s0[tid + 2] = float2{0, 0};
}
if (tid < 2) {
  const size_t x = base + (size_t)(tid) - 2;
  if (x < n)
    s0[tid] = in0[x];
  else
    s0[tid] = float2{0, 0};
}
if (tid >= BLOCK - 2) {
  const size_t x = base + (size_t)(tid + 4) - 2;
  if (x < n)
    s0[tid + 4] = in0[x];
  else
    s0[tid + 4] = float2{0, 0};
}
__syncthreads();
if (!(g < n))
  return;
float acc = 0;
acc += (float)(s0[tid + 2 - 2].x + s0[tid + 2 - 2].y) * 3 + (float)(s0[tid + 2 + 1].x + s0[tid + 2 + 1].y) + (float)(s0[tid + 2 + 2].x + s0[tid + 2 + 2].y);
out[g] = acc;
}

__global__ void st1(const float *x, float *y, index_t n) {
  __shared__ float s[kBlock + 2u * kR];
  const index_t gid = static_cast<index_t>(blockIdx.x) * kBlock + threadIdx.x;
  const index_t lid = threadIdx.x + kR;
  s[lid] = gid < n ? x[gid] : 0.0f;
  if (threadIdx.x < kR) {
    s[lid - kR] = gid >= kR ? x[gid - kR] : 0.0f;
    s[lid + kBlock] = gid + kBlock < n ? x[gid + kBlock] : 0.0f;
  }
  __syncthreads();
  if (gid >= n) return;
  float a = 0.0f;
  for (index_t k = lid - kR; k <= lid + kR; ++k) a += s[k];
  y[gid] = a;
}
__global__ void st3(const double *x, double *y, std::int64_t n) {
  __shared__ double s[64 + 8];
  const std::int64_t b = (std::int64_t)blockIdx.x * blockDim.x;
  for (std::int64_t k = threadIdx.x; k < (std::int64_t)blockDim.x + 8; k += blockDim.x) {
    std::int64_t g = b + k - 4;
    g = g < 0 ? 0 : (g >= n ? n - 1 : g);
    s[k] = x[g];
  }
  __syncthreads();
  const std::int64_t g = b + threadIdx.x;
  if (g < n) {
    double m = 0;
    for (int k = 0; k < 9; ++k) m += s[threadIdx.x + k];
    y[g] = m / 9;
  }
}
__global__ void gsu(const float *a, float *b, size_t n) {
  __shared__ float s[128 + 1];
  size_t stride = (size_t)gridDim.x * blockDim.x;
  for (size_t base = (size_t)blockIdx.x * blockDim.x; base < n; base += stride) {
    size_t i = base + threadIdx.x;
    if (i < n) s[threadIdx.x] = a[i];
    if (threadIdx.x == 0) s[128] = base + 128 < n ? a[base + 128] : 0.f;
    __syncthreads();
    if (i + 1 < n) b[i] = s[threadIdx.x + 1] * 2.f;
    __syncthreads();
  }
}
int main() {
  for (int n : SIZES) {
    Buf<float> a(n), b(n); a.nums(3); b.nums(9);
    Buf<float2> p(n, 3);
    wrapping<256><<<(n + 255) / 256, 256>>>(p.d, b.d, n); show("wrapping", b);
    st1<<<(n + 127) / 128, kBlock>>>(a.d, b.d, n); show("st1", b);
    Buf<double> e(n), f(n); e.nums(3); st3<<<(n + 63) / 64, 64>>>(e.d, f.d, n); show("st3", f);
    gsu<<<3, 128>>>(a.d, b.d, n); show("gsu", b);
  }
  Buf<float> b(100); b.nums(5);
  wrapping<256><<<0, 256>>>(nullptr, b.d, ~size_t(0)); show("none", b);
}
