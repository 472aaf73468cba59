// What is staged beyond a border is made by the toolkit's conversions to halves and pairs
// of them, which multiply nothing.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'broadcast' {{.*}}; 's' reloaded
// CHECK-DAG: rewrote 'named' {{.*}}; 's' reloaded
// CHECK-DAG: rewrote 'constructed' {{.*}}; 's' reloaded
// CHECK-DAG: rewrote 'ofIntegers' {{.*}}; 's' reloaded
// CHECK-DAG: rewrote 'wide' {{.*}}; 's' reloaded
// SAME: equivalent: 5 launches {{.*}}; 5 by a rewritten kernel
#include "program.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define B 128
#define STAGED(T, Border) \
  __shared__ T s[B + 2]; \
  int t = threadIdx.x, g = blockIdx.x * B + t; \
  s[t] = g < n ? a[g] : Border; \
  if (t < 2) \
    s[t + B] = g + B < n ? a[g + B] : Border; \
  __syncthreads();
__global__ void broadcast(const half2 *a, half2 *o, int n) {
  STAGED(half2, __float2half2_rn(0.f))
  if (g < n)
    o[g] = __hadd2(s[t], __hadd2(s[t + 1], s[t + 2]));
}
__global__ void named(const half2 *a, half2 *o, int n) {
  const half2 none = __floats2half2_rn(0.f, 1.f);
  STAGED(half2, none)
  if (g < n)
    o[g] = __hmax2(s[t], __hmax2(s[t + 1], s[t + 2]));
}
__global__ void constructed(const half2 *a, half2 *o, int n) {
  STAGED(half2, half2(2.f, 0.f))
  if (g < n)
    o[g] = __lowhigh2highlow(__hadd2(s[t], s[t + 2]));
}
__global__ void ofIntegers(const half *a, half *o, int n) {
  STAGED(half, __int2half_rn(3))
  if (g < n)
    o[g] = __hadd(s[t], __hadd(s[t + 1], s[t + 2]));
}
__global__ void wide(const __nv_bfloat162 *a, __nv_bfloat162 *o, int n) {
  STAGED(__nv_bfloat162, __floats2bfloat162_rn(0.f, 0.f))
  if (g < n)
    o[g] = __hmin2(s[t], __hmin2(s[t + 1], s[t + 2]));
}
int main() {
  const int n = 2000;
  std::vector<half2> pairs(n);
  for (half2 &p : pairs)
    p = __floats2half2_rn(float(nextRandom() % 64), float(nextRandom() % 64));
  std::vector<__nv_bfloat162> wides(n);
  for (__nv_bfloat162 &p : wides)
    p = __floats2bfloat162_rn(float(nextRandom() % 64), float(nextRandom() % 64));
  Buffer<half2> in(pairs), out(n);
  Buffer<__nv_bfloat162> wideIn(wides), wideOut(n);
  const int grid = blocks(n, B);
  broadcast<<<grid, B>>>(in.Data, out.Data, n);
  out.show("broadcast");
  named<<<grid, B>>>(in.Data, out.Data, n);
  out.show("named");
  constructed<<<grid, B>>>(in.Data, out.Data, n);
  out.show("constructed");
  ofIntegers<<<grid, B>>>((const half *)in.Data, (half *)out.Data, n);
  out.show("ofIntegers");
  wide<<<grid, B>>>(wideIn.Data, wideOut.Data, n);
  wideOut.show("wide");
}
