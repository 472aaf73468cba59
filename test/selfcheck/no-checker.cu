// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Without rcache-check the text is compiled, and that nothing was executed is said.

// REQUIRES: cuda-toolkit
// RUN: mkdir -p %t && cp %build/bin/rcache-rewrite %t/rcache-rewrite
// RUN: env PATH=/usr/bin:/bin %t/rcache-rewrite %s -o %t/out.cu --force --self-check=quick --cuda-path=%cuda 2> %t/remarks
// RUN: FileCheck %s < %t/remarks

// CHECK: rewrote 'stencil'
// CHECK: note: not executed: rcache-check is not installed
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
