// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is written is executed before it is handed out: a plan that was damaged
// behind the verifier's back gives other bits, and nothing of it is written.

// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=quick --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-rewrite %s -o %t.bad.cu --force --self-check=quick --mutate=wrong-register --cuda-path=%cuda 2>&1 | FileCheck --check-prefix=BAD %s
// RUN: diff %s %t.bad.cu
// RUN: rcache-rewrite %s -o %t.off.cu --force --mutate=wrong-register --cuda-path=%cuda 2>&1 | FileCheck --check-prefix=OFF %s
// RUN: env RCACHE_SELF_CHECK=full rcache-rewrite %s -o %t.full.cu --force --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: diff %t.cu %t.full.cu
// RUN: not env RCACHE_SELF_CHECK=often rcache-rewrite %s -o %t.none.cu 2>&1 | FileCheck --check-prefix=USAGE %s

// CHECK: remark: rewrote 'stencil'
// CHECK: note: executed before it was written: {{[1-9][0-9]*}} launches in both orders of the threads, every bit as the original's
// BAD: 'stencil' left as it is: {{.*}} (kept as {{.*}}rcache-reproducer-{{.*}}.cu)) [self-check-failed]
// BAD-NOT: rewrote
// OFF: rewrote 'stencil'
// OFF-NOT: executed before
// USAGE: RCACHE_SELF_CHECK is off, sums, quick or full, not 'often'

// TEXT: stencil_rc_launch((n + 255) / 256, 256
__global__ void stencil(const float *a, float *b, int n) {
  __shared__ float s[258];
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;
  s[l] = g < n ? a[g] : 0;
  if (l < 2)
    s[l + 256] = g + 256 < n ? a[g + 256] : 0;
  __syncthreads();
  if (g < n)
    b[g] = s[l] + s[l + 1] + s[l + 2];
}

void launch(const float *a, float *b, int n) {
  stencil<<<(n + 255) / 256, 256>>>(a, b, n);
}
