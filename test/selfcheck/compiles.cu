// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is written is compiled before it is handed out: here a name that the
// launch function needs may not be used in the file. The other kernel is rewritten.

// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=quick --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: %clang-cuda -fsyntax-only %t.cu
// RUN: rcache-rewrite %s -o %t.off.cu --force --self-check=off --cuda-path=%cuda 2>&1 | FileCheck --check-prefix=OFF %s

// CHECK-DAG: rewrote 'first'
// CHECK-DAG: 'second' left as it is: {{.*}} (the new text does not compile, line {{[0-9]+}}: attempt to use a poisoned identifier) [self-check-failed]
// OFF-DAG: rewrote 'first'
// OFF-DAG: rewrote 'second'

#define STAGE(s, a)                                                            \
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;                         \
  s[l] = g < n ? a[g] : 0;                                                     \
  if (l < 2)                                                                   \
    s[l + 256] = g + 256 < n ? a[g + 256] : 0;                                 \
  __syncthreads();

// TEXT: first_rc_launch(dim3
__global__ void first(const float *a, float *b, int n) {
  __shared__ float s[258];
  STAGE(s, a)
  if (g < n)
    b[g] = s[l] + s[l + 1] + s[l + 2];
}

void launchFirst(const float *a, float *b, int n) {
  first<<<(n + 255) / 256, 256>>>(a, b, n);
}

#pragma GCC poison cudaStream_t
// TEXT-NOT: second{{_}}rc
__global__ void second(const float *a, float *b, int n) {
  __shared__ float s[258];
  STAGE(s, a)
  if (g < n)
    b[g] = s[l] - s[l + 2];
}

// TEXT: second<<<
void launchSecond(const float *a, float *b, int n) {
  second<<<(n + 255) / 256, 256>>>(a, b, n);
}
