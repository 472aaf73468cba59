// Loops over tiles in other words than `for (t = 0; t < n; t += TILE)`: counters that
// begin with an element of the block's own (the product of the CUDA samples), counters
// and pointers that are stepped beside them, `while`, loops that count down, in 64
// bits, against a bound in floating point. Blocks are joined and tiles copied ahead
// where all blocks run the same rounds, and only there.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda --force -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff --device-code=clang %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
//
// CHECK-DAG: rewrote 'sample<16>' {{.*}}'As' kept shared, staged once
// CHECK-DAG: rewrote 'sample<32>' {{.*}}'As' kept shared, staged once
// CHECK-DAG: rewrote 'whileOwn' {{.*}}'As' kept shared, staged once
// CHECK-DAG: rewrote 'header' {{.*}}'As' kept shared, staged once
// CHECK-DAG: rewrote 'inFloats' {{.*}}'As' kept shared, staged once
// CHECK-DAG: rewrote 'wide' {{.*}}'As' kept shared, staged once
// CHECK-DAG: rewrote 'down' {{.*}}'As' kept shared, staged once
// Rounds that differ from block to block.
// CHECK-DAG: 'triangle' {{.*}}'As' kept shared; 'Bs' kept shared
// CHECK-DAG: 'longer' {{.*}}'As' kept shared; 'Bs' kept shared
//
// TEXT-LABEL: {{^}}static __global__ void sample_rc(
// TEXT: {{^ +}}rc_send(a_moved + 16, rc_tile ^ 1u);
// TEXT-LABEL: {{^}}static __global__ void sample_rc_2(
// TEXT: {{^ +}}rc_send(a_moved + 32, rc_tile ^ 1u);
// TEXT-LABEL: {{^}}static __global__ void whileOwn_rc(
// TEXT: {{^ +}}rc_send(a_moved + 16, rc_tile ^ 1u);
// TEXT-LABEL: {{^}}static __global__ void header_rc(
// TEXT: {{^ +}}rc_send(t + 16, rc_tile ^ 1u);
// TEXT-LABEL: {{^}}static __global__ void inFloats_rc(
// TEXT: {{^ +}}if (rc_round < ceil(n / (float)TILE)) {
// TEXT-LABEL: {{^}}static __global__ void wide_rc(
// TEXT: {{^ +}}const auto rc_send = [&](const unsigned long rc_round,
// TEXT-LABEL: {{^}}static __global__ void down_rc(
// TEXT: {{^ +}}rc_send(t - 1, rc_tile ^ 1u);
// TEXT-LABEL: {{^}}static __global__ void triangle_rc(
// TEXT-NOT: {{^ +}}rc_send
#include "program.h"

#define TILE 16

template <int BS>
__global__ void sample(float *C, float *A, float *B, int wA, int wB) {
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int aBegin = wA * BS * by;
  int aEnd = aBegin + wA - 1;
  int aStep = BS;
  int bBegin = BS * bx;
  int bStep = BS * wB;
  float Csub = 0;
  for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
    __shared__ float As[BS][BS];
    __shared__ float Bs[BS][BS];
    As[ty][tx] = A[a + wA * ty + tx];
    Bs[ty][tx] = B[b + wB * ty + tx];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BS; ++k)
      Csub += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  int c = wB * BS * by + BS * bx;
  C[c + wB * ty + tx] = Csub;
}

#define USE_TILES                                                                \
  __syncthreads();                                                             \
  for (int k = 0; k < TILE; ++k)                                               \
    sum += As[ty][k] * Bs[k][tx];                                              \
  __syncthreads();

__global__ void whileOwn(const float *A, const float *B, float *C, int n) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  int a = n * TILE * blockIdx.y, end = a + n, b = TILE * blockIdx.x;
  float sum = 0;
  while (a < end) {
    As[ty][tx] = A[a + n * ty + tx];
    Bs[ty][tx] = B[b + n * ty + tx];
    USE_TILES
    a += TILE;
    b += TILE * n;
  }
  C[(blockIdx.y * TILE + ty) * n + blockIdx.x * TILE + tx] = sum;
}

__global__ void header(const float *A, const float *B, float *C, int n) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  A += blockIdx.y * TILE * n;
  B += blockIdx.x * TILE;
  float sum = 0;
  for (int t = 0; t < n; t += TILE, A += TILE, B += TILE * n) {
    As[ty][tx] = A[ty * n + tx];
    Bs[ty][tx] = B[ty * n + tx];
    USE_TILES
  }
  C[(blockIdx.y * TILE + ty) * n + blockIdx.x * TILE + tx] = sum;
}

__global__ void inFloats(const float *A, const float *B, float *C, int n) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int t = 0; t < ceil(n / (float)TILE); ++t) {
    As[ty][tx] = row < n && t * TILE + tx < n ? A[row * n + t * TILE + tx] : 0.0f;
    Bs[ty][tx] = t * TILE + ty < n && col < n ? B[(t * TILE + ty) * n + col] : 0.0f;
    USE_TILES
  }
  if (row < n && col < n)
    C[row * n + col] = sum;
}

__global__ void wide(const float *A, const float *B, float *C, size_t n) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  const size_t tx = threadIdx.x, ty = threadIdx.y;
  const size_t row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (size_t t = 0; t < n / TILE; ++t) {
    As[ty][tx] = A[row * n + t * TILE + tx];
    Bs[ty][tx] = B[(t * TILE + ty) * n + col];
    USE_TILES
  }
  C[row * n + col] = sum;
}

__global__ void down(const float *A, const float *B, float *C, int n) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int t = n / TILE - 1; t >= 0; --t) {
    As[ty][tx] = A[row * n + t * TILE + tx];
    Bs[ty][tx] = B[(t * TILE + ty) * n + col];
    USE_TILES
  }
  C[row * n + col] = sum;
}

__global__ void triangle(const float *A, const float *B, float *C, int n) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int t = 0; t <= blockIdx.y; ++t) {
    As[ty][tx] = A[row * n + t * TILE + tx];
    Bs[ty][tx] = B[(t * TILE + ty) * n + col];
    USE_TILES
  }
  C[row * n + col] = sum;
}

/// Blocks to the right run longer.
__global__ void longer(const float *A, const float *B, float *C, int n) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int first = n * TILE * blockIdx.y, last = first + TILE * blockIdx.x;
  float sum = 0;
  for (int a = first, b = TILE * blockIdx.x; a <= last; a += TILE, b += TILE * n) {
    As[ty][tx] = A[a + n * ty + tx];
    Bs[ty][tx] = B[b + n * ty + tx];
    USE_TILES
  }
  C[(blockIdx.y * TILE + ty) * n + blockIdx.x * TILE + tx] = sum;
}

/// Never called: what the kernels are planned for.
void large(float *A, float *B, float *C) {
  const dim3 grid(512, 512), block(TILE, TILE);
  sample<16><<<grid, block>>>(C, A, B, 8192, 8192);
  sample<32><<<dim3(256, 256), dim3(32, 32)>>>(C, A, B, 8192, 8192);
  whileOwn<<<grid, block>>>(A, B, C, 8192);
  header<<<grid, block>>>(A, B, C, 8192);
  inFloats<<<grid, block>>>(A, B, C, 8192);
  wide<<<grid, block>>>(A, B, C, 8192);
  down<<<grid, block>>>(A, B, C, 8192);
  triangle<<<grid, block>>>(A, B, C, 8192);
  longer<<<grid, block>>>(A, B, C, 8192);
}

int main() {
  const int n = 64;
  Buffer<float> A(randoms<float>(n * n)), B(randoms<float>(n * n)),
      C(randoms<float>(n * n));
  const dim3 grid(n / TILE, n / TILE), block(TILE, TILE);
  sample<16><<<grid, block>>>(C.Data, A.Data, B.Data, n, n);
  C.show("sample<16>", n, n);
  sample<16><<<dim3(3, 2), block>>>(C.Data, A.Data, B.Data, 80, 48);
  C.show("sample<16>", 48, 32);
  sample<32><<<dim3(2, 2), dim3(32, 32)>>>(C.Data, A.Data, B.Data, n, n);
  C.show("sample<32>", n, n);
  whileOwn<<<grid, block>>>(A.Data, B.Data, C.Data, n);
  C.show("whileOwn", n, n);
  header<<<grid, block>>>(A.Data, B.Data, C.Data, n);
  C.show("header", n, n);
  inFloats<<<grid, block>>>(A.Data, B.Data, C.Data, n);
  C.show("inFloats", n, n);
  inFloats<<<dim3(3, 3), block>>>(A.Data, B.Data, C.Data, 43);
  C.show("inFloats", 43, 43);
  wide<<<grid, block>>>(A.Data, B.Data, C.Data, n);
  C.show("wide", n, n);
  down<<<grid, block>>>(A.Data, B.Data, C.Data, n);
  C.show("down", n, n);
  triangle<<<grid, block>>>(A.Data, B.Data, C.Data, n);
  C.show("triangle", n, n);
  longer<<<grid, block>>>(A.Data, B.Data, C.Data, n);
  C.show("longer", n, n);
}
