// The stencil of the literature: what the model says of it.
// RUN: %rewrite %s --print-after=model -o %t.cu -- %mock 2>&1 | FileCheck %s
#define BLOCK 256
#define K 3

__global__ void stencil(const float *in, float *out, int n) {
  __shared__ float s[BLOCK + 2 * K];
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  int l = threadIdx.x;
  if (idx >= n)
    return;
  s[l] = in[idx];
  if (l < 2 * K && idx + BLOCK < n)
    s[l + BLOCK] = in[idx + BLOCK];
  __syncthreads();
  if (idx < n - 2 * K) {
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j <= 2 * K; ++j)
      sum += s[l + j];
    out[idx] = sum / (2 * K + 1);
  }
}

void run(const float *in, float *out, int n) {
  stencil<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(in, out, n);
}

// CHECK:      kernel stencil
// CHECK-NEXT:   geometry block 256x1x1 seen 256x1x1
// CHECK-NEXT:   assumes (double)grid.x <= 8384512.0
// CHECK-NEXT:   launch at [[#]]:3 `stencil` grid `(n + BLOCK - 1) / BLOCK` block `BLOCK` = block 256x1x1
// CHECK-NEXT:   param `const float *` in const
// CHECK-NEXT:   param `float *` out written
// CHECK-NEXT:   param `int` n
// CHECK-NEXT:   shared s: float[262] bytes 4
// CHECK:        for `for (int j = 0; j <= 2 * K; ++j)` iterator j in [j] -> {  : 0 <= j <= 6 } step 1 trips 7 first 0 unroll
// CHECK:        shared write `s[l]` in #[[#]] {{\[\[}}tx] -> { [(tx)] }] when [n, tx, bx] -> {  : 256bx < n - tx } := load in ([tx, bx] -> { [(tx + 256bx)] })
// CHECK-NEXT:   shared write `s[l + BLOCK]` in #[[#]] {{\[\[}}tx] -> { [(256 + tx)] }] when
// CHECK-NEXT:   shared read `s[l + j]` in #[[#]] {{\[\[}}j, tx] -> { [(j + tx)] }] when
// CHECK-NOT:    inexact
