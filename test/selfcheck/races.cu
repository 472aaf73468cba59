// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A made-up launch in which the original's threads race is no reason to refuse a
// kernel. Where all of them do, that is said, of this instantiation alone. What
// is wrong in other launches is still found, and the launch is named.

// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=quick --cuda-path=%cuda > %t.remarks 2>&1
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-rewrite %s -o %t.bad.cu --force --self-check=quick --mutate=wrong-register --cuda-path=%cuda > %t.bad 2>&1
// RUN: FileCheck --check-prefix=BAD %s < %t.bad

// CHECK: rewrote 'least'
// CHECK: note: executed before it was written: {{[1-9][0-9]*}} launches in both orders of the threads, every bit as the original's; {{[1-9][0-9]*}} more left out, in which the original's threads race in global memory
// CHECK: rewrote 'ladder<false>'
// CHECK: note: executed before it was written: {{[1-9][0-9]*}} launches in both orders of the threads, every bit as the original's;
// CHECK-NOT: more left out
// CHECK: rewrote 'ladder<true>'
// CHECK: note: not executed: threads race in {{[0-9]+}} of {{[0-9]+}} launches, and no other one was found for which the original is defined: thread ({{.*}},0,0) and thread ({{.*}},0,0) both write b[0], in block ({{.*}},0,0) with no barrier between
// CHECK: rewrote 'relax'
// CHECK: note: executed before it was written: {{[1-9][0-9]*}} launches in both orders of the threads, every bit as the original's; {{[1-9][0-9]*}} more left out
// BAD: 'least' left as it is: {{.*}} and is wrong (different: least: a[{{[0-9]+}}]; original: 0x{{.*}}; rewritten: 0x{{.*}}; launch: grid 1,1,1, block 256,1,1, {{.*}}, n = {{[0-9]+}} ({{.*}}); the original writes it in block (0,0,0), thread ({{.*}}) (kept as {{.*}})) [self-check-failed]

// In place: a block reads what its neighbours change.
__global__ void least(int *a, int n) {
  __shared__ int s[258];
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;
  s[l + 1] = g < n ? a[g] : 0;
  if (l == 0)
    s[0] = g > 0 && g < n ? a[g - 1] : 0;
  if (l == 255)
    s[257] = g + 1 < n ? a[g + 1] : 0;
  __syncthreads();
  if (g < n)
    a[g] = min(s[l], min(s[l + 1], s[l + 2]));
}

// Whatever is staged, no two threads have one sum.
template <bool One> __global__ void ladder(const int *__restrict__ a, int *__restrict__ b, int n) {
  __shared__ int s[258];
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;
  s[l] = g < n && n > 1 ? a[g] : 0;
  if (l < 2)
    s[l + 256] = g + 256 < n && n > 1 ? a[g + 256] : 0;
  __syncthreads();
  if (g < n && n > 1)
    b[One ? 0 : g] = s[l] + s[l + 1] + s[l + 2] + 7919 * 13 * l;
}

// With rows shorter than the grid, two threads have one element.
__global__ void relax(const int *__restrict__ row, const int *__restrict__ column, int *__restrict__ dist, int n) {
  __shared__ int r[16][16], c[16][16];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  r[threadIdx.y][threadIdx.x] = row[threadIdx.y * n + x];
  c[threadIdx.y][threadIdx.x] = column[y * 16 + threadIdx.x];
  __syncthreads();
  int d = dist[y * n + x];
#pragma unroll
  for (int k = 0; k < 16; ++k)
    d = min(d, c[threadIdx.y][k] + r[k][threadIdx.x]);
  dist[y * n + x] = d;
}

void run(int *a, int *b, int n) {
  least<<<(n + 255) / 256, 256>>>(a, n);
  ladder<false><<<(n + 255) / 256, 256>>>(a, b, n);
  ladder<true><<<(n + 255) / 256, 256>>>(a, b, n);
  relax<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, a, b, n);
}
