#include "shown.h"

// ---- textbook version -------------------------------------------------
#define TILE_WIDTH 16
__global__ void MatrixMulKernel(float* M, float* N, float* P, int Mrows, int Width, int Ncols) {
  __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
  __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
  int bx = blockIdx.x; int by = blockIdx.y;
  int tx = threadIdx.x; int ty = threadIdx.y;
  int Row = by * TILE_WIDTH + ty;
  int Col = bx * TILE_WIDTH + tx;
  float Pvalue = 0;
  for (int ph = 0; ph < (Width - 1) / TILE_WIDTH + 1; ++ph) {
    if (Row < Mrows && ph * TILE_WIDTH + tx < Width)
      Mds[ty][tx] = M[Row * Width + ph * TILE_WIDTH + tx];
    else
      Mds[ty][tx] = 0.0;
    if (ph * TILE_WIDTH + ty < Width && Col < Ncols)
      Nds[ty][tx] = N[(ph * TILE_WIDTH + ty) * Ncols + Col];
    else
      Nds[ty][tx] = 0.0;
    __syncthreads();
    for (int k = 0; k < TILE_WIDTH; ++k)
      Pvalue += Mds[ty][k] * Nds[k][tx];
    __syncthreads();
  }
  if (Row < Mrows && Col < Ncols) P[Row * Ncols + Col] = Pvalue;
}

// ---- register blocked -------------------------------------------------
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN))
sgemm_2d(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  __shared__ float As[BK * BM];
  __shared__ float Bs[BK * BN];
  const int cRow = blockIdx.y, cCol = blockIdx.x;
  const int nthr = (BM * BN) / (TM * TN);
  const int threadCol = threadIdx.x % (BN / TN);
  const int threadRow = threadIdx.x / (BN / TN);
  A += cRow * BM * K;
  B += cCol * BN;
  C += cRow * BM * N + cCol * BN;
  float acc[TM * TN] = {0.0f};
  float regM[TM], regN[TN];
  for (int bk = 0; bk < K; bk += BK) {
    for (int l = threadIdx.x; l < BM * BK; l += nthr)
      As[(l % BK) * BM + l / BK] = A[(l / BK) * K + l % BK];
    for (int l = threadIdx.x; l < BK * BN; l += nthr)
      Bs[l] = B[(l / BN) * N + l % BN];
    __syncthreads();
    A += BK;
    B += BK * N;
#pragma unroll
    for (int d = 0; d < BK; ++d) {
#pragma unroll
      for (int i = 0; i < TM; ++i) regM[i] = As[d * BM + threadRow * TM + i];
#pragma unroll
      for (int i = 0; i < TN; ++i) regN[i] = Bs[d * BN + threadCol * TN + i];
#pragma unroll
      for (int m = 0; m < TM; ++m)
#pragma unroll
        for (int n = 0; n < TN; ++n) acc[m * TN + n] += regM[m] * regN[n];
    }
    __syncthreads();
  }
  for (int m = 0; m < TM; ++m)
    for (int n = 0; n < TN; ++n) {
      int p = (threadRow * TM + m) * N + threadCol * TN + n;
      C[p] = alpha * acc[m * TN + n] + beta * C[p];
    }
}

// ---- C = A^T B in double, 32x32 with +1 -------------------------------
__global__ void dgemmTN(const double *__restrict__ A, const double *__restrict__ B, double *__restrict__ C, int m, int n, int k)
{
  const int T = 32;
  __shared__ double sa[T][T + 1], sb[T][T + 1];
  int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  double sum = 0.0;
  for (int k0 = 0; k0 < k; k0 += T) {
    int kk = k0 + threadIdx.y;
    int ar = blockIdx.y * T + threadIdx.x;      // A is k x m
    sa[threadIdx.x][threadIdx.y] = (kk < k && ar < m) ? A[(size_t)kk * m + ar] : 0.0;
    sb[threadIdx.y][threadIdx.x] = (kk < k && col < n) ? B[(size_t)kk * n + col] : 0.0;
    __syncthreads();
#pragma unroll 8
    for (int e = 0; e < T; e++) sum = fma(sa[threadIdx.y][e], sb[e][threadIdx.x], sum);
    __syncthreads();
  }
  if (row >= m || col >= n) return;
  C[(size_t)row * n + col] = sum;
}

// ---- batched small products, one matrix per block ---------------------
#define SZ 24
__global__ void batchedMM(const float *a, const float *b, float *c)
{
  __shared__ float x[SZ * SZ], y[SZ * SZ];
  size_t off = (size_t)blockIdx.x * SZ * SZ;
  int t = threadIdx.x + threadIdx.y * SZ;
  x[t] = a[off + t];
  y[t] = b[off + t];
  __syncthreads();
  float s = 0.f;
#pragma unroll
  for (int k = 0; k < SZ; k++) s += x[threadIdx.y * SZ + k] * y[k * SZ + threadIdx.x];
  c[off + t] = s;
}

// ---- y = A x, block per row group, x staged by chunks ------------------
#define CH 256
__global__ void gemv_shared(const float *A, const float *x, float *y, int rows, int cols)
{
  __shared__ float xs[CH];
  __shared__ float part[8][33];
  int r = blockIdx.x * 8 + threadIdx.y;
  int t = threadIdx.y * 32 + threadIdx.x;
  float s = 0.f;
  for (int c0 = 0; c0 < cols; c0 += CH) {
    xs[t] = c0 + t < cols ? x[c0 + t] : 0.f;
    __syncthreads();
    if (r < rows)
      for (int j = threadIdx.x; j < CH && c0 + j < cols; j += 32)
        s += A[(size_t)r * cols + c0 + j] * xs[j];
    __syncthreads();
  }
  part[threadIdx.y][threadIdx.x] = s;
  __syncthreads();
  for (int w = 16; w > 0; w >>= 1) {
    if (threadIdx.x < w) part[threadIdx.y][threadIdx.x] += part[threadIdx.y][threadIdx.x + w];
    __syncthreads();
  }
  if (threadIdx.x == 0 && r < rows) y[r] = part[threadIdx.y][0];
}

int main(int argc, char **argv) {
  const int n = 1024;
  float *dA = mk<float>(1 << 24), *dB = mk<float>(1 << 24), *dC;
  cudaMalloc(&dC, sizeof(float) << 24);
  cudaMemset(dC, 0, sizeof(float) << 24);
  {
    int m = 1000, k = 1111, nn = 900;
    dim3 dimGrid((nn - 1) / TILE_WIDTH + 1, (m - 1) / TILE_WIDTH + 1, 1);
    dim3 dimBlock(TILE_WIDTH, TILE_WIDTH, 1);
    MatrixMulKernel<<<dimGrid, dimBlock>>>(dA, dB, dC, m, k, nn);
    show("MatrixMulKernel", dC, sizeof(float) * m * nn);
  }
  sgemm_2d<64, 64, 8, 4, 4><<<dim3(n / 64, n / 64), 256>>>(n, n, n, 0.5f, dA, dB, 0.25f, dC);
  show("sgemm_2d<64>", dC, sizeof(float) * n * n);
  sgemm_2d<128, 128, 8, 8, 8><<<dim3(1536 / 128, 1536 / 128), 256>>>(1536, 1536, 1536, 1.0f, dA, dB, 0.5f, dC);
  show("sgemm_2d<128>", dC, sizeof(float) * 1536 * 1536);
  {
    double *da = mk<double>(n * n), *db = mk<double>(n * n), *dc;
    cudaMalloc(&dc, sizeof(double) * n * n);
    dgemmTN<<<dim3((1000 + 31) / 32, (990 + 31) / 32), dim3(32, 32)>>>(da, db, dc, 990, 1000, 1010);
    show("dgemmTN", dc, sizeof(double) * 990 * 1000);
  }
  batchedMM<<<20000, dim3(SZ, SZ)>>>(dA, dB, dC);
  show("batchedMM", dC, sizeof(float) * 20000 * SZ * SZ);
  gemv_shared<<<(4000 + 7) / 8, dim3(32, 8)>>>(dA, dB, dC, 4000, 4100);
  show("gemv_shared", dC, sizeof(float) * 4000);
  return 0;
}
