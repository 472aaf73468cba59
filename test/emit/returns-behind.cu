// Threads that return behind what they have stored, staged or counted: it stays done,
// whatever of their region stands behind the return.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
// RUN: rcache-rewrite %s --force --coarsen=2 -o %t.2.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs
// RUN: rcache-check diff %s %t.2.cu -- -I%S/Inputs
//
// SAME: equivalent: 9 launches {{.*}}; 9 by a rewritten kernel
#include "program.h"

// A store in front of it.
// CHECK-DAG: rewrote 'stores'
__global__ void stores(const int *in, int *out, int n) {
  __shared__ int s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 1;
  __syncthreads();
  out[g] = s[127 - t];
  if (g >= n)
    return;
  out[g + 1024] = s[t];
}

// A loop of stores, in the first region.
// CHECK-DAG: rewrote 'loops'
__global__ void loops(const int *in, int *out, int n, int limit) {
  __shared__ int s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int k = 1; k < 3; ++k)
    out[g + 1024 * k] = k;
  if (g == limit)
    return;
  s[t] = in[g % n];
  __syncthreads();
  out[g] = s[t & ~1];
}

// What others read.
// CHECK-DAG: rewrote 'stages'
__global__ void stages(const int *in, int *out, int n) {
  __shared__ int s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 7;
  if (g >= n)
    return;
  __syncthreads();
  out[g] = s[127 - t] + s[t];
}

// CHECK-DAG: rewrote 'transposed'
__global__ void transposed(const int *in, int *out, int n) {
  __shared__ int s[16][17];
  int x = threadIdx.x, y = threadIdx.y, g = blockIdx.x * 256 + y * 16 + x;
  s[y][x] = g < n ? in[g] : 1;
  if (g >= n)
    return;
  __syncthreads();
  out[g] = s[x][y];
}

// Half a block builds a tree over all.
// CHECK-DAG: rewrote 'tree'
__global__ void tree(const int *in, int *out, int n) {
  __shared__ int s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = in[min(g, n - 1)];
  if (t >= 64)
    return;
  __syncthreads();
  for (int k = 64; k; k >>= 1) {
    if (t < k)
      s[t] += s[t + k];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// CHECK-DAG: rewrote 'counts'
__global__ void counts(const int *in, int *out, int n) {
  __shared__ int s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  atomicAdd(out + 2000, 1);
  if (g >= n)
    return;
  s[t] = in[g];
  __syncthreads();
  out[g] = s[t & ~1];
}

// Two of them, one behind a store.
// CHECK-DAG: rewrote 'twice'
__global__ void twice(const int *in, int *out, int n, int m) {
  __shared__ int s[128 + 2];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t < 2)
    s[t + 128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  if (g >= n)
    return;
  out[g] = s[t] + s[t + 1];
  if (g >= m)
    return;
  out[g + 1024] = s[t + 2];
}

// With sums over taps, whose stores are collected.
// CHECK-DAG: rewrote 'taps'
__global__ void taps(const int *in, int *out, int n, int m) {
  __shared__ int s[128 + 8];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t < 8)
    s[t + 128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  out[g] = s[t];
  if (g >= m)
    return;
  int v = 0;
  for (int i = 0; i < 9; ++i)
    v += s[t + i] * i;
  out[g + 1024] = v;
}

// Braces and brackets of two characters.
// CHECK-DAG: rewrote 'digraphs'
__global__ void digraphs(const int *in, int *out, int n) <%
  __shared__ int s<:128:>;
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s<:t:> = g < n ? in<:g:> : 3;
  __syncthreads();
  if (g < n) <% out<:g:> = s<:127 - t:>; %> %>

int main() {
  const int n = 1000;
  Buffer<int> in(randoms<int>(n)), out(3 * 1024);
  stores<<<8, 128>>>(in.Data, out.Data, n);
  out.show("stores");
  loops<<<8, 128>>>(in.Data, out.Data, n, 71);
  out.show("loops");
  stages<<<8, 128>>>(in.Data, out.Data, n);
  out.show("stages");
  transposed<<<4, dim3(16, 16)>>>(in.Data, out.Data, n);
  out.show("transposed");
  tree<<<8, 128>>>(in.Data, out.Data, n);
  out.show("tree");
  counts<<<8, 128>>>(in.Data, out.Data, n);
  out.show("counts");
  twice<<<8, 128>>>(in.Data, out.Data, n, 900);
  out.show("twice");
  taps<<<8, 128>>>(in.Data, out.Data, n, 900);
  out.show("taps");
  digraphs<<<8, 128>>>(in.Data, out.Data, n);
  out.show("digraphs");
}
