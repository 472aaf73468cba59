// Tiles of matrices that are no multiples of them, in the words of lectures: an index
// that may wrap, `(t * TILE + threadIdx.y) * cols + col` of an unsigned number, cannot
// be told by a formula and is asked for the next round in its own words; zeros are
// `0.0` of a float's.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda --force -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'lecture' {{.*}}'As' kept shared, staged once
// CHECK-DAG: rewrote 'called' {{.*}}'As' kept shared, staged once
// CHECK-DAG: rewrote 'counted' {{.*}}'As' kept shared, staged once
// CHECK-DAG: rewrote 'filled' {{.*}}'As' kept shared, staged once
//
// TEXT-LABEL: {{^}}static __global__ void lecture_rc(
// TEXT: {{^ +}}return B + (((rc_round)*TILE + ((unsigned int)(rc_e0))) * (BCols) +
// TEXT: {{^ +}}rc_send(k + 1, rc_tile ^ 1u);
// A row that a function computes, of the round as well.
// TEXT-LABEL: {{^}}static __global__ void called_rc(
// TEXT: {{^ +}}return B + ((rowOf((rc_round) + ((unsigned int)(rc_e0)), (n))) +
// TEXT: {{^ +}}rc_send(
// An unsigned counter's products wrap where they did.
// TEXT-LABEL: {{^}}static __global__ void counted_rc(
// TEXT: {{^ +}}return B + ((((unsigned int)(rc_round)) + ((unsigned int)(rc_e0))) * (n) +
// TEXT: {{^ +}}rc_send(
// What fills the rest is no zero: it is not copied.
// TEXT-LABEL: {{^}}static __global__ void filled_rc(
// TEXT-NOT: {{^ +}}rc_send
// TEXT: {{^}}int main
#include "program.h"

#define TILE 16

__global__ void lecture(float *A, float *B, float *C, int ARows, int ACols, int BRows,
                        int BCols) {
  float CValue = 0;
  int Row = blockIdx.y * TILE + threadIdx.y;
  int Col = blockIdx.x * TILE + threadIdx.x;
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  for (int k = 0; k < (TILE + ACols - 1) / TILE; k++) {
    if (k * TILE + threadIdx.x < ACols && Row < ARows)
      As[threadIdx.y][threadIdx.x] = A[Row * ACols + k * TILE + threadIdx.x];
    else
      As[threadIdx.y][threadIdx.x] = 0.0;
    if (k * TILE + threadIdx.y < BRows && Col < BCols)
      Bs[threadIdx.y][threadIdx.x] = B[(k * TILE + threadIdx.y) * BCols + Col];
    else
      Bs[threadIdx.y][threadIdx.x] = 0.0;
    __syncthreads();
    for (int n = 0; n < TILE; ++n)
      CValue += As[threadIdx.y][n] * Bs[n][threadIdx.x];
    __syncthreads();
  }
  if (Row < ARows && Col < BCols)
    C[Row * BCols + Col] = CValue;
}

__host__ __device__ inline unsigned rowOf(unsigned row, int cols) { return row * cols; }

__global__ void called(const float *A, const float *B, float *C, int n) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += TILE) {
    As[threadIdx.y][threadIdx.x] = A[row * n + t + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[rowOf(t + threadIdx.y, n) + col];
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

__global__ void counted(const float *A, const float *B, float *C, int n) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (unsigned t = 0; t < n; t += TILE) {
    As[threadIdx.y][threadIdx.x] = A[row * n + t + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[(t + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

__global__ void filled(const float *A, const float *B, float *C, int n) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float least = 1e30f;
  for (int t = 0; t < n; t += TILE) {
    As[threadIdx.y][threadIdx.x] = row < n && t + threadIdx.x < n ? A[row * n + t + threadIdx.x] : 1e30f;
    Bs[threadIdx.y][threadIdx.x] = t + threadIdx.y < n && col < n ? B[(t + threadIdx.y) * n + col] : 1e30f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      least = fminf(least, As[threadIdx.y][k] + Bs[k][threadIdx.x]);
    __syncthreads();
  }
  if (row < n && col < n)
    C[row * n + col] = least;
}

int main() {
  const int most = 100;
  Buffer<float> A(randoms<float>(most * most)), B(randoms<float>(most * most)),
      C(randoms<float>(most * most));
  const int sizes[][3] = {{64, 64, 64}, {70, 33, 51}, {17, 90, 100}, {1, 1, 1}, {40, 16, 96}};
  for (const auto &[rows, common, cols] : sizes) {
    lecture<<<dim3((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE), dim3(TILE, TILE)>>>(
        A.Data, B.Data, C.Data, rows, common, common, cols);
    C.show("lecture", rows, cols);
  }
  // Rows that B has not, and none of them.
  for (int rows : {20, 0}) {
    lecture<<<dim3(3, 3), dim3(TILE, TILE)>>>(A.Data, B.Data, C.Data, 48, 48, rows, 48);
    C.show("lecture", 48, rows);
  }
  called<<<dim3(4, 4), dim3(TILE, TILE)>>>(A.Data, B.Data, C.Data, 64);
  C.show("called", 64, 64);
  for (int n : {64, 48}) {
    counted<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(A.Data, B.Data, C.Data, n);
    C.show("counted", n, n);
  }
  for (int n : {64, 83}) {
    filled<<<dim3((n + TILE - 1) / TILE, (n + TILE - 1) / TILE), dim3(TILE, TILE)>>>(A.Data, B.Data, C.Data, n);
    C.show("filled", n, n);
  }
}
