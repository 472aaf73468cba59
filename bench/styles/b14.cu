#include "shown.h"
#include <cuda_fp16.h>

// double dgemm, dynamic 2 outputs per thread in y, guarded
#define TS 32
#define WPT 4
#define RTS (TS / WPT)
__global__ void gemm_wpt(const int M, const int N, const int K, const double *A, const double *B, double *C) {
  const int row = threadIdx.x;
  const int col = threadIdx.y;
  const int globalRow = TS * blockIdx.x + row;
  const int globalCol = TS * blockIdx.y + col;
  __shared__ double Asub[TS][TS];
  __shared__ double Bsub[TS][TS];
  double acc[WPT];
  for (int w = 0; w < WPT; w++) acc[w] = 0.0;
  const int numTiles = K / TS;
  for (int t = 0; t < numTiles; t++) {
    for (int w = 0; w < WPT; w++) {
      const int tiledRow = TS * t + row;
      const int tiledCol = TS * t + col;
      Asub[col + w * RTS][row] = A[(tiledCol + w * RTS) * M + globalRow];
      Bsub[col + w * RTS][row] = B[(globalCol + w * RTS) * K + tiledRow];
    }
    __syncthreads();
    for (int k = 0; k < TS; k++)
      for (int w = 0; w < WPT; w++) acc[w] += Asub[k][row] * Bsub[col + w * RTS][k];
    __syncthreads();
  }
  for (int w = 0; w < WPT; w++) C[(globalCol + w * RTS) * M + globalRow] = acc[w];
}

// siboehm 2D blocktiling
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1) sgemm2DBlocktiling(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  const unsigned cRow = blockIdx.y;
  const unsigned cCol = blockIdx.x;
  const unsigned numThreadsBlocktile = BM * BN / (TM * TN);
  const int threadCol = threadIdx.x % (BN / TN);
  const int threadRow = threadIdx.x / (BN / TN);
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  A += cRow * BM * K;
  B += cCol * BN;
  C += cRow * BM * N + cCol * BN;
  const unsigned innerRowA = threadIdx.x / BK, innerColA = threadIdx.x % BK;
  const unsigned strideA = numThreadsBlocktile / BK;
  const unsigned innerRowB = threadIdx.x / BN, innerColB = threadIdx.x % BN;
  const unsigned strideB = numThreadsBlocktile / BN;
  float threadResults[TM * TN] = {0.0};
  float regM[TM] = {0.0};
  float regN[TN] = {0.0};
  for (unsigned bkIdx = 0; bkIdx < K; bkIdx += BK) {
    for (unsigned loadOffset = 0; loadOffset < BM; loadOffset += strideA)
      As[(innerRowA + loadOffset) * BK + innerColA] = A[(innerRowA + loadOffset) * K + innerColA];
    for (unsigned loadOffset = 0; loadOffset < BK; loadOffset += strideB)
      Bs[(innerRowB + loadOffset) * BN + innerColB] = B[(innerRowB + loadOffset) * N + innerColB];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (unsigned dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (unsigned i = 0; i < TM; ++i) regM[i] = As[(threadRow * TM + i) * BK + dotIdx];
      for (unsigned i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
      for (unsigned m = 0; m < TM; ++m)
        for (unsigned n = 0; n < TN; ++n) threadResults[m * TN + n] += regM[m] * regN[n];
    }
    __syncthreads();
  }
  for (unsigned m = 0; m < TM; ++m)
    for (unsigned n = 0; n < TN; ++n) {
      unsigned o = (threadRow * TM + m) * N + threadCol * TN + n;
      C[o] = alpha * threadResults[m * TN + n] + beta * C[o];
    }
}

// A * B^T with half inputs, batched via z
__global__ void hgemm_nt_batched(const __half *A, const __half *B, float *C, int m, int n, int k, size_t sA, size_t sB, size_t sC) {
  __shared__ __half a[16][16 + 2];
  __shared__ __half b[16][16 + 2];
  A += blockIdx.z * sA;
  B += blockIdx.z * sB;
  C += blockIdx.z * sC;
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  const int jr = blockIdx.x * 16 + threadIdx.y;
  float s = 0.f;
  for (int kk = 0; kk < k; kk += 16) {
    const int kc = kk + threadIdx.x;
    a[threadIdx.y][threadIdx.x] = (i < m && kc < k) ? A[(size_t)i * k + kc] : __float2half(0.f);
    b[threadIdx.y][threadIdx.x] = (jr < n && kc < k) ? B[(size_t)jr * k + kc] : __float2half(0.f);
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 16; q++) s += __half2float(a[threadIdx.y][q]) * __half2float(b[threadIdx.x][q]);
    __syncthreads();
  }
  if (i < m && j < n) C[(size_t)i * n + j] = s;
}

// programming guide: struct Matrix with sub-matrix helpers
typedef struct { int width; int height; int stride; float *elements; } Matrix;
#define MB 16
__device__ float GetElement(const Matrix A, int row, int col) { return A.elements[row * A.stride + col]; }
__device__ void SetElement(Matrix A, int row, int col, float value) { A.elements[row * A.stride + col] = value; }
__device__ Matrix GetSubMatrix(Matrix A, int row, int col) {
  Matrix Asub;
  Asub.width = MB;
  Asub.height = MB;
  Asub.stride = A.stride;
  Asub.elements = &A.elements[A.stride * MB * row + MB * col];
  return Asub;
}
__global__ void MatMulKernelGuide(Matrix A, Matrix B, Matrix C) {
  int blockRow = blockIdx.y;
  int blockCol = blockIdx.x;
  Matrix Csub = GetSubMatrix(C, blockRow, blockCol);
  float Cvalue = 0;
  int row = threadIdx.y;
  int col = threadIdx.x;
  for (int m = 0; m < (A.width / MB); ++m) {
    Matrix Asub = GetSubMatrix(A, blockRow, m);
    Matrix Bsub = GetSubMatrix(B, m, blockCol);
    __shared__ float As[MB][MB];
    __shared__ float Bs[MB][MB];
    As[row][col] = GetElement(Asub, row, col);
    Bs[row][col] = GetElement(Bsub, row, col);
    __syncthreads();
    for (int e = 0; e < MB; ++e) Cvalue += As[row][e] * Bs[e][col];
    __syncthreads();
  }
  SetElement(Csub, row, col, Cvalue);
}

// matrix-vector, x staged in shared chunkwise
#define MV_BLOCK 128
__global__ void matvec_sharedx(const float *A, const float *x, float *y, unsigned nRows, unsigned nCols) {
  __shared__ float xs[MV_BLOCK];
  unsigned row = blockIdx.x * MV_BLOCK + threadIdx.x;
  float dot = 0.f;
  for (unsigned m = 0; m < (nCols + MV_BLOCK - 1) / MV_BLOCK; ++m) {
    if (m * MV_BLOCK + threadIdx.x < nCols) xs[threadIdx.x] = x[m * MV_BLOCK + threadIdx.x];
    else xs[threadIdx.x] = 0.f;
    __syncthreads();
    for (unsigned e = 0; e < MV_BLOCK; ++e) {
      unsigned c = m * MV_BLOCK + e;
      if (row < nRows && c < nCols) dot += A[row + (size_t)c * nRows] * xs[e];
    }
    __syncthreads();
  }
  if (row < nRows) y[row] = dot;
}

int main() {
  {
    int M = 512, N = 768, K = 384;
    double *A = mk<double>(M * K), *B = mk<double>(K * N), *C = mk<double>(M * N);
    gemm_wpt<<<dim3(M / TS, N / TS), dim3(TS, RTS)>>>(M, N, K, A, B, C);
    show("gemm_wpt", C, M * N * 8);
  }
  {
    int M = 1024, N = 1280, K = 512;
    float *A = mk<float>(M * K), *B = mk<float>(K * N), *C = mk<float>(M * N);
    sgemm2DBlocktiling<64, 64, 8, 8, 8><<<dim3(N / 64, M / 64), 64>>>(M, N, K, 1.1f, A, B, 0.5f, C);
    show("sgemm2DBlocktiling", C, M * N * 4);
  }
  {
    int bt = 24, m = 197, n = 197, k = 72;
    size_t sA = m * k, sB = n * k + 8, sC = m * n;
    __half *h = (__half *)malloc(bt * sB * 2), *A, *B;
    for (size_t i = 0; i < bt * sB; i++) h[i] = __float2half(((i * 37) % 101) / 50.f - 1.f);
    cudaMalloc(&A, bt * sA * 2); cudaMalloc(&B, bt * sB * 2);
    cudaMemcpy(A, h, bt * sA * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(B, h, bt * sB * 2, cudaMemcpyHostToDevice);
    float *C = mk<float>(bt * sC);
    hgemm_nt_batched<<<dim3((n + 15) / 16, (m + 15) / 16, bt), dim3(16, 16)>>>(A, B, C, m, n, k, sA, sB, sC);
    show("hgemm_nt_batched", C, bt * sC * 4);
  }
  {
    Matrix A{400, 640, 400, mk<float>(400 * 640)}, B{480, 400, 512, mk<float>(512 * 400)}, C{480, 640, 480, mk<float>(480 * 640)};
    MatMulKernelGuide<<<dim3(480 / MB, 640 / MB), dim3(MB, MB)>>>(A, B, C);
    show("MatMulKernelGuide", C.elements, 480 * 640 * 4);
  }
  {
    unsigned r = 10001, c = 1003;
    float *A = mk<float>((size_t)r * c), *x = mk<float>(c), *y = mk<float>(r);
    matvec_sharedx<<<(r + MV_BLOCK - 1) / MV_BLOCK, MV_BLOCK>>>(A, x, y, r, c);
    show("matvec_sharedx", y, r * 4);
  }
}
