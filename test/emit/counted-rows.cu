// Rows numbered by a loop, `row * m + column`, where the column has no sign: counters that
// begin at zero make no negative product, and the index is what stands there.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --self-check=off -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
#include "buffers.h"

// CHECK: rewrote 'moments'
// TEXT-LABEL: moments_rc{{[(]}}
// TEXT-NOT: 4294967296LL
// TEXT: moments_rc_launch{{[(]}}
// TEXT: m >= 0
__global__ void moments(const float *x, const float *mean, float *o, int n, int m) {
  __shared__ float a[16][16], b[16][16];
  const int i = blockIdx.y * 16, j = blockIdx.x * 16;
  float s = 0.f;
  for (int r = 0; r < n; r += 16) {
    const int rr = r + threadIdx.y;
    a[threadIdx.y][threadIdx.x] = rr < n ? x[rr * m + i + threadIdx.x] - mean[i + threadIdx.x] : 0.f;
    b[threadIdx.y][threadIdx.x] = rr < n ? x[rr * m + j + threadIdx.x] - mean[j + threadIdx.x] : 0.f;
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      s += a[k][threadIdx.y] * b[k][threadIdx.x];
    __syncthreads();
  }
  o[(i + threadIdx.y) * m + j + threadIdx.x] = s;
}

// A counter that is negative at first: nothing is known of its products.
// CHECK: rewrote 'backwards'
__global__ void backwards(const int *x, int *o, int n, int m) {
  __shared__ int a[64];
  int s = 0;
  for (int r = -2; r < n; ++r) {
    a[threadIdx.x] = r < 0 ? r * m + threadIdx.x : x[r * m + threadIdx.x];
    __syncthreads();
    s = s * 3 + a[63 - threadIdx.x];
    __syncthreads();
  }
  o[blockIdx.x * 64 + threadIdx.x] = s;
}

// A product without a sign may wrap: what stands there is written, of the round whose
// tile is copied.
// CHECK: rewrote 'product'
// TEXT-LABEL: product_rc{{[(]}}
// TEXT: return b + (((rc_round) + ((unsigned int)(rc_e0))) * (n) +
__global__ void product(const float *a, const float *b, float *c, int n, int m) {
  __shared__ float x[16][16], y[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float s = 0;
  for (int t = 0; t < m; t += 16) {
    x[threadIdx.y][threadIdx.x] = a[row * m + t + threadIdx.x];
    y[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      s += x[threadIdx.y][k] * y[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = s;
}

int main() {
  Buf<float> x(100 * 64, 1), mean(64, 2), o(64 * 64, 3);
  for (int n : {100, 16, 7, 0})
    moments<<<dim3(4, 4), dim3(16, 16)>>>(x.d, mean.d, o.d, n, 64);
  for (int m : {64, 16, 0})
    product<<<dim3(4, 4), dim3(16, 16)>>>(x.d, x.d, o.d, 64, m);
  Buf<int> y(20 * 64, 4), z(4 * 64, 5);
  for (int n : {20, 1, 0})
    backwards<<<4, 64>>>(y.d, z.d, n, 64);
}
