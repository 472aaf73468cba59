// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums as nvcc compiles them are compared before a kernel is handed out (check/test/self says
// how): where the checker finds others, though every bit was equal, the kernel is left.

// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=quick --cuda-path=%cuda 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH-DAG: rewrote 'chosen'
// BOTH-DAG: rewrote 'plain'
//
// RUN: rm -rf %t.d && mkdir %t.d && cp %build/bin/rcache-rewrite %t.d/
// RUN: cp %S/Inputs/other-sums.py %t.d/rcache-check && chmod +x %t.d/rcache-check
// RUN: %t.d/rcache-rewrite %s -o %t.one.cu --force --self-check=quick --cuda-path=%cuda 2>&1 | FileCheck %s
// CHECK-DAG: 'chosen' left as it is: {{.*}}as nvcc compiles both, the rewritten form has fma(x, x, x)) [fusion-unsettled]
// CHECK-DAG: rewrote 'plain'

__global__ void chosen(const float *__restrict__ a, const float *__restrict__ c,
                       float *__restrict__ b, int n) {
  __shared__ float s[96], q[96];
  const int t = threadIdx.x, g = blockIdx.x * 96 + t;
  s[t] = g < n ? c[g] + c[g] : 0.0f;
  q[t] = g < n ? c[g] : 0.0f;
  __syncthreads();
  if (g >= n)
    return;
  b[g] = 2.5f + s[t] * s[t ^ 1];
}

__global__ void plain(const float *__restrict__ a, float *__restrict__ b, float w, int n) {
  __shared__ float s[96 + 2];
  const int t = threadIdx.x, g = blockIdx.x * 96 + t;
  s[t] = g < n ? a[g] : 0.0f;
  if (t < 2)
    s[t + 96] = g + 96 < n ? a[g + 96] : 0.0f;
  __syncthreads();
  if (g < n)
    b[g] = s[t] * w + s[t + 2];
}

void launch(const float *a, const float *c, float *b, int n) {
  chosen<<<(n + 95) / 96, 96>>>(a, c, b, n);
  plain<<<(n + 95) / 96, 96>>>(a, b, 0.3f, n);
}
