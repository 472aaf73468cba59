// A value that is computed elsewhere names the same variables there: what another
// variable hides, or what is not visible, is not used under its name. Declarators of
// one statement have each their own fate.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs -std=c++20 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -std=c++20
// RUN: %compile -std=c++20 -I%S/Inputs -c %t.cu -o %t.o
//
// CHECK-DAG: rewrote 'inner_value' {{.*}}'s'
// CHECK-DAG: rewrote 'hidden_value' {{.*}}'s'
// CHECK-DAG: rewrote 'inner' {{.*}}'s'
// CHECK-DAG: rewrote 'hides_parameter' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'hides_constant' {{.*}}'s' reloaded
// CHECK-DAG: 'hidden_constant' left as it is: {{.*}}('LIM2') [name-not-visible]
// CHECK-DAG: rewrote 'repeated' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'members' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'several' {{.*}}'s'
// CHECK-DAG: rewrote 'halves' {{.*}}'s'
//
#include "program.h"
struct Params {
  const float *in;
  int n;
};
__global__ void members(Params p, float *__restrict__ b) {
  __shared__ float s[130];
  const int g = blockIdx.x * 128 + threadIdx.x, m = p.n, t = threadIdx.x;
  s[t] = g < m ? p.in[g] * m : 0.f;
  if (t < 2)
    s[t + 128] = g + 128 < m ? p.in[g + 128] : 0.f;
  __syncthreads();
  if (g < m)
    b[g] = s[t] + s[t + 1] * 0.5f + s[t + 2];
}
__global__ void inner_value(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  __shared__ int k;
  if (t == 0) { unsigned nbits = 0; while (n >> nbits) nbits++; k = nbits; }
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = s[t] + s[t + 1] + k;
}
__global__ void hidden_value(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  __shared__ int k;
  int nbits = 77;
  if (t == 0) { unsigned nbits = 0; while (n >> nbits) nbits++; k = nbits; }
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = s[t] + s[t + 1] + k + nbits;
}
__global__ void inner(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  { int m = n / 3 * 2 % 17; if (m & 4) m = 3; s[t] = a[g] + m; }
  int m = 5;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = s[t] + s[t + 1] + s[t + 2] + m;
}
__global__ void hides_parameter(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  { int g = t + 1; float n = s[g]; if (blockIdx.x * 128 + t < 100) b[blockIdx.x * 128 + t] = n + s[t]; }
}
__constant__ float LIM = 3.f;
__global__ void hides_constant(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = a[g] * LIM;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  { int LIM = t; if (g < n) b[g] = s[t] + s[t + LIM % 2] + LIM; }
}
__constant__ float LIM2 = 3.f;
__global__ void hidden_constant(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = a[g] * LIM2;
  if (t < 2) s[t + 128] = 0.f;
  const int LIM2 = n;
  __syncthreads();
  if (g < n) b[g] = s[t] + s[t + 1] + LIM2;
}
__global__ void repeated(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  const int m = t * 3;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  for (int r = 0; r < 2; ++r) { float m = r + 2.f; __syncthreads(); if (g < n) b[g] = m * s[t] + s[t + 1]; __syncthreads(); }
  if (g < n) e[g] = m;
}
__global__ void several(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  float x = a[g], y = x * 2.f, z = y + x;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  z += 1.f; y += z;
  if (g < n) b[g] = s[t] + s[t + 1] + s[t + 2] + x + y + z;
}
__global__ void halves(const float *__restrict__ a, float *__restrict__ b, int *__restrict__ e, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x, len = 2 * blockDim.x, first = blockIdx.x * len, bi = t + len / 2;
  if (first + t < n) s[t] = a[first + t]; else s[t] = 0.f;
  if (first + bi < n) s[bi] = a[first + bi]; else s[bi] = 0.f;
  __syncthreads();
  float x = s[t] + s[bi];
  __syncthreads();
  if (first + t < n) b[first + t] = x + len; if (first + bi < n) b[first + bi] = x - len;
}

int main() {
  for (int n : {1000, 127, 1281}) {
    Buffer<float> in(randoms<float>(n + 512)), out(n + 512);
    Buffer<int> also(n + 512);
    inner_value<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("inner_value", n);
    also.show("inner_value, integers", n);
    hidden_value<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("hidden_value", n);
    also.show("hidden_value, integers", n);
    inner<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("inner", n);
    also.show("inner, integers", n);
    hides_parameter<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("hides_parameter", n);
    also.show("hides_parameter, integers", n);
    hides_constant<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("hides_constant", n);
    also.show("hides_constant, integers", n);
    hidden_constant<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("hidden_constant", n);
    also.show("hidden_constant, integers", n);
    repeated<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("repeated", n);
    also.show("repeated, integers", n);
    several<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("several", n);
    also.show("several, integers", n);
    halves<<<blocks(n, 128), 128>>>(in.Data, out.Data, also.Data, n);
    out.show("halves", n);
    also.show("halves, integers", n);
    members<<<blocks(n, 128), 128>>>({in.Data, n}, out.Data);
    out.show("members", n);
  }
}
