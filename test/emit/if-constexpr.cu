// Branches that an instantiation leaves out name what the rewritten kernel no more
// has: they go.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'branches<1>' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'branches<2>' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'chain<1>' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'chain<2>' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'chain<3>' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'one_branch<1>' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'by_type<double>' {{.*}}'s' reloaded
//
#include "program.h"
// Stages 130 elements.
#define ST s[t] = g < n ? a[g] : 0.f; \
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f; \
  __syncthreads();
template <int R> __global__ void branches(const float *__restrict__ a, float *__restrict__ b, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  ST
  if constexpr (R == 1) { if (g < n) b[g] = s[t] * 2; } else { if (g < n) b[g] = s[t + 1] + s[t]; }
}
template <int R> __global__ void chain(const float *__restrict__ a, float *__restrict__ b, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  ST
  float x = s[t];
  if constexpr (R == 1) x += s[t + 1]; else if constexpr (R == 2) x -= s[t + 2]; else x = 0;
  if (g < n) b[g] = x;
}
template <int R> __global__ void one_branch(const float *__restrict__ a, float *__restrict__ b, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  ST
  float x = s[t];
  if constexpr (R == 1) x += s[t + 1];
  if (g < n) b[g] = x;
}
template <typename T> __global__ void by_type(const T *__restrict__ a, T *__restrict__ b, int n) {
  __shared__ T s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  ST
  T x(s[t]); auto y{s[t + 1]}; T z = T(2) * x, w(z);
  if constexpr (sizeof(T) == 8) { T *p = s; x += p[t]; }
  __syncthreads();
  if (g < n) b[g] = x + y + w;
}
int main() {
  for (int n : {1000, 127}) {
    Buffer<float> in(randoms<float>(n + 512)), out(n + 512);
    Buffer<double> wide(randoms<double>(n + 512)), wide_out(n + 512);
    branches<1><<<blocks(n, 128), 128>>>(in.Data, out.Data, n);
    out.show("branches<1>", n);
    branches<2><<<blocks(n, 128), 128>>>(in.Data, out.Data, n);
    out.show("branches<2>", n);
    chain<1><<<blocks(n, 128), 128>>>(in.Data, out.Data, n);
    out.show("chain<1>", n);
    chain<2><<<blocks(n, 128), 128>>>(in.Data, out.Data, n);
    out.show("chain<2>", n);
    chain<3><<<blocks(n, 128), 128>>>(in.Data, out.Data, n);
    out.show("chain<3>", n);
    one_branch<1><<<blocks(n, 128), 128>>>(in.Data, out.Data, n);
    out.show("one_branch<1>", n);
    one_branch<2><<<blocks(n, 128), 128>>>(in.Data, out.Data, n);
    out.show("one_branch<2>", n);
    by_type<float><<<blocks(n, 128), 128>>>(in.Data, out.Data, n);
    out.show("by_type<float>", n);
    by_type<double><<<blocks(n, 128), 128>>>(wide.Data, wide_out.Data, n);
    wide_out.show("by_type<double>", n);
  }
}
