// Blocks of tiled products joined: each tile of a factor is staged once for all
// blocks of a row or of a column, a thread has outputs in several of them. In the
// spellings there are: whole tiles and guarded ones, a factor transposed, rows with
// an element more, scaled and added to, doubles, several matrices, distances.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda --force -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %s --force --kernel=whole --mutate=wrong-row -o %t.bad.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=COPY %s
// COPY: the plan verifier found: element 'As'[0][0] holds float A[
// RUN: not rcache-check diff --device-code=clang %s %t.bad.cu -- -I%S/Inputs
// RUN: rcache-rewrite %s --force --kernel=whole --mutate=lane-off-by-one -o %t.bad.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=LANE %s
// LANE: the plan verifier found: the slots do not fill the joined blocks
// RUN: rcache-rewrite %s --force --kernel=whole --mutate=narrowed-barrier -o %t.bad.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=NARROW %s
// NARROW: the plan verifier found: joined blocks whose barriers are not those of the block
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
//
// CHECK-DAG: rewrote 'whole' {{.*}}'As' kept shared, staged once for several blocks; 'Bs' kept shared, staged once for several blocks
// CHECK-DAG: rewrote 'guarded' {{.*}}'As' kept shared, staged once
// CHECK-DAG: rewrote 'transposed' {{.*}}'As' kept shared, staged once
// CHECK-DAG: rewrote 'scaled' {{.*}}'As' kept shared, staged once
// CHECK-DAG: rewrote 'doubles' {{.*}}'As' kept shared, staged once
// CHECK-DAG: rewrote 'batched' {{.*}}'As' kept shared, staged once
// Not settled: how nvcc fuses the products of a sum of squares.
// CHECK-DAG: 'distances' left as it is
//
// TEXT-LABEL: {{^}}static __global__ void whole_rc(
// TEXT: {{^ +}}const bool rc_As_words = ::rcache::device::on_word<16>(A) && n % 4 == 0;
// TEXT: {{^ +}}rc_send(t + 1, rc_tile ^ 1u);
#include "program.h"

#define TILE 16

__global__ void whole(const float *A, const float *B, float *C, int n) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int t = 0; t < n / TILE; ++t) {
    As[ty][tx] = A[row * n + t * TILE + tx];
    Bs[ty][tx] = B[(t * TILE + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

__global__ void guarded(float *A, float *B, float *C, int m, int n, int k) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  float value = 0.0f;
  for (int t = 0; t < (k + TILE - 1) / TILE; t++) {
    if (row < m && t * TILE + threadIdx.x < k)
      As[threadIdx.y][threadIdx.x] = A[row * k + t * TILE + threadIdx.x];
    else
      As[threadIdx.y][threadIdx.x] = 0.0f;
    if (t * TILE + threadIdx.y < k && col < n)
      Bs[threadIdx.y][threadIdx.x] = B[(t * TILE + threadIdx.y) * n + col];
    else
      Bs[threadIdx.y][threadIdx.x] = 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; i++)
      value += As[threadIdx.y][i] * Bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n)
    C[row * n + col] = value;
}

/// C = A * B^T; the tile of B is stored transposed, in rows of an element more.
__global__ void transposed(const float *A, const float *B, float *C, int n) {
  __shared__ float As[TILE][TILE + 1], Bs[TILE][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += TILE) {
    As[threadIdx.y][threadIdx.x] = A[row * n + t + threadIdx.x];
    Bs[threadIdx.x][threadIdx.y] =
        B[(blockIdx.x * TILE + threadIdx.y) * n + t + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

__global__ void scaled(const float *A, const float *B, float *C, int n,
                       float alpha, float beta) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n / TILE; ++t) {
    As[threadIdx.y][threadIdx.x] = A[row * n + t * TILE + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[(t * TILE + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  C[row * n + col] = alpha * sum + beta * C[row * n + col];
}

__global__ void doubles(const double *A, const double *B, double *C, int n) {
  __shared__ double As[TILE][TILE], Bs[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  double sum = 0;
  for (int t = 0; t < n / TILE; ++t) {
    As[threadIdx.y][threadIdx.x] = A[row * n + t * TILE + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[(t * TILE + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

__global__ void batched(const float *A, const float *B, float *C, int n) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  const float *a = A + blockIdx.z * n * n, *b = B + blockIdx.z * n * n;
  float *c = C + blockIdx.z * n * n;
  float sum = 0;
  for (int t = 0; t < n / TILE; ++t) {
    As[threadIdx.y][threadIdx.x] = a[row * n + t * TILE + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = b[(t * TILE + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

/// Squared distances of all pairs; the staging is scaled, so values pass through
/// registers.
__global__ void distances(const float *P, float *D, int n, int dims) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int i = blockIdx.y * TILE + ty, j = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int d = 0; d < dims; d += TILE) {
    As[ty][tx] = 0.5f * P[i * dims + d + tx];
    Bs[ty][tx] = 0.5f * P[(blockIdx.x * TILE + ty) * dims + d + tx];
    __syncthreads();
    for (int k = 0; k < TILE; ++k) {
      const float x = As[ty][k] - Bs[tx][k];
      sum += x * x;
    }
    __syncthreads();
  }
  D[i * n + j] = sum;
}

/// Never called: what the kernels are planned for.
void large(float *A, float *B, float *C, double *X) {
  const dim3 grid(512, 512), block(TILE, TILE);
  whole<<<grid, block>>>(A, B, C, 8192);
  guarded<<<grid, block>>>(A, B, C, 8192, 8192, 8192);
  transposed<<<grid, block>>>(A, B, C, 8192);
  scaled<<<grid, block>>>(A, B, C, 8192, 1, 1);
  doubles<<<grid, block>>>(X, X, X, 8192);
  batched<<<grid, block>>>(A, B, C, 8192);
}

int main() {
  const int n = 256;
  Buffer<float> A(randoms<float>(n * n)), B(randoms<float>(n * n)),
      C(randoms<float>(n * n));
  Buffer<double> X(randoms<double>(n * n)), Y(randoms<double>(n * n)), Z(n * n);
  const dim3 block(TILE, TILE);
  whole<<<dim3(8, 16), block>>>(A.Data, B.Data, C.Data, 128);
  C.show("whole", 128, 256);
  // Blocks at the end of the grid that are joined with none.
  whole<<<dim3(3, 3), block>>>(A.Data, B.Data, C.Data, 48);
  C.show("whole", 48, 48);
  guarded<<<dim3(8, 8), block>>>(A.Data, B.Data, C.Data, 121, 117, 70);
  C.show("guarded", 117, 121);
  guarded<<<dim3(8, 16), block>>>(A.Data, B.Data, C.Data, 250, 128, 64);
  C.show("guarded", 128, 250);
  transposed<<<dim3(8, 8), block>>>(A.Data, B.Data, C.Data, 128);
  C.show("transposed", 128, 128);
  scaled<<<dim3(8, 8), block>>>(A.Data, B.Data, C.Data, 128, 1.5f, -0.25f);
  C.show("scaled", 128, 128);
  doubles<<<dim3(8, 8), block>>>(X.Data, Y.Data, Z.Data, 128);
  Z.show("doubles", 128, 128);
  batched<<<dim3(8, 8, 2), block>>>(A.Data, B.Data, C.Data, 128);
  C.show("batched", 128, 128);
  distances<<<dim3(8, 8), block>>>(A.Data, C.Data, 128, 48);
  C.show("distances", 128, 128);
}
