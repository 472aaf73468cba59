// References that are declared behind the last barrier of their block live in one
// interval, as their variables do.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH
// CHECK-DAG: rewrote 'elements'
// CHECK-DAG: rewrote 'locals'
// CHECK-DAG: 'across' left as it is: {{.*}} (the reference 'w' lives across a barrier) [unsupported-statement]
#include "program.h"
__global__ void elements(const float *a, float *o, int n) {
  __shared__ float s[258];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? a[g] : 0;
  if (t < 2) s[t + 256] = g + 256 < n ? a[g + 256] : 0;
  __syncthreads();
  const float &e = s[t], &f = s[t + 2];
  if (g < n) o[g] = e + f;
}
__global__ void locals(const float *a, float *o, int n) {
  __shared__ float s[258];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? a[g] : 0;
  if (t < 2) s[t + 256] = g + 256 < n ? a[g + 256] : 0;
  __syncthreads();
  float v = s[t];
  float &r = v;
  r += s[t + 1];
  if (g < n) { auto &out = o[g]; out = v + s[t + 2]; }
}
__global__ void across(const float *a, float *o, int n) {
  __shared__ float s[258];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  float v = 1;
  for (int r = 0; r < 3; ++r) {
    s[t] = g < n ? a[g] * (r + 1) : 0;
    if (t < 2) s[t + 256] = g + 256 < n ? a[g + 256] : 0;
    __syncthreads();
    float &w = v;
    w += s[t + 1] + s[t];
    __syncthreads();
  }
  if (g < n) o[g] = v;
}
int main() {
  for (int n : {1000, 2311, 256}) {
    Buffer<float> a(randoms<float>(n)), b(n);
    elements<<<(n + 255) / 256, 256>>>(a.Data, b.Data, n), b.show("elements", n);
    locals<<<(n + 255) / 256, 256>>>(a.Data, b.Data, n), b.show("locals", n);
    across<<<(n + 255) / 256, 256>>>(a.Data, b.Data, n), b.show("across", n);
  }
}
