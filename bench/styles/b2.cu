#include "shown.h"

#define TILE_DIM 32
#define BLOCK_ROWS 8

__global__ void transposeNoBankConflicts(float *odata, const float *idata, int width, int height) {
  __shared__ float tile[TILE_DIM][TILE_DIM + 1];
  int x = blockIdx.x * TILE_DIM + threadIdx.x;
  int y = blockIdx.y * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    if (x < width && y + j < height)
      tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * TILE_DIM + threadIdx.x;
  y = blockIdx.x * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    if (x < height && y + j < width)
      odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

#define BDIM 16
__global__ void transposeCoalesced16(double *odata, double *idata, size_t width, size_t height) {
  __shared__ double block[BDIM][BDIM];
  size_t xIndex = blockIdx.x * BDIM + threadIdx.x;
  size_t yIndex = blockIdx.y * BDIM + threadIdx.y;
  if ((xIndex < width) && (yIndex < height)) {
    size_t index_in = yIndex * width + xIndex;
    block[threadIdx.y][threadIdx.x] = idata[index_in];
  }
  __syncthreads();
  xIndex = blockIdx.y * BDIM + threadIdx.x;
  yIndex = blockIdx.x * BDIM + threadIdx.y;
  if ((xIndex < height) && (yIndex < width)) {
    size_t index_out = yIndex * height + xIndex;
    odata[index_out] = block[threadIdx.x][threadIdx.y];
  }
}

template <int BS>
__global__ void matrixMulCUDA(float *C, float *A, float *B, int wA, int wB) {
  int bx = blockIdx.x;
  int by = blockIdx.y;
  int tx = threadIdx.x;
  int ty = threadIdx.y;
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
    for (int k = 0; k < BS; ++k) Csub += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  int c = wB * BS * by + BS * bx;
  C[c + wB * ty + tx] = Csub;
}

#define TILE_WIDTH 16
__global__ void matrixMultiplyShared(float *A, float *B, float *C, int numARows, int numAColumns, int numBRows, int numBColumns, int numCRows, int numCColumns) {
  __shared__ float ds_M[TILE_WIDTH][TILE_WIDTH];
  __shared__ float ds_N[TILE_WIDTH][TILE_WIDTH];
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int Row = by * TILE_WIDTH + ty;
  int Col = bx * TILE_WIDTH + tx;
  float Pvalue = 0;
  for (int m = 0; m < (numAColumns - 1) / TILE_WIDTH + 1; ++m) {
    if (Row < numARows && m * TILE_WIDTH + tx < numAColumns)
      ds_M[ty][tx] = A[Row * numAColumns + m * TILE_WIDTH + tx];
    else
      ds_M[ty][tx] = 0;
    if (Col < numBColumns && m * TILE_WIDTH + ty < numBRows)
      ds_N[ty][tx] = B[(m * TILE_WIDTH + ty) * numBColumns + Col];
    else
      ds_N[ty][tx] = 0;
    __syncthreads();
    for (int k = 0; k < TILE_WIDTH; ++k) Pvalue += ds_M[ty][k] * ds_N[k][tx];
    __syncthreads();
  }
  if (Row < numCRows && Col < numCColumns) C[Row * numCColumns + Col] = Pvalue;
}

// Parboil sgemm style: column-major A, B transposed, register tile
#define TILE_N 16
#define TILE_TB_HEIGHT 8
#define TILE_M (TILE_N * TILE_TB_HEIGHT)
__global__ void mysgemmNT(const float *A, int lda, const float *B, int ldb, float *C, int ldc, int k, float alpha, float beta) {
  float c[TILE_N];
  for (int i = 0; i < TILE_N; i++) c[i] = 0.0f;
  int mid = threadIdx.y * blockDim.x + threadIdx.x;
  int m = blockIdx.x * TILE_M + mid;
  int n = blockIdx.y * TILE_N + threadIdx.x;
  __shared__ float b_s[TILE_TB_HEIGHT][TILE_N];
  for (int i = 0; i < k; i += TILE_TB_HEIGHT) {
    float a;
    b_s[threadIdx.y][threadIdx.x] = B[n + (i + threadIdx.y) * ldb];
    __syncthreads();
    for (int j = 0; j < TILE_TB_HEIGHT; j++) {
      a = A[m + (i + j) * lda];
      for (int kk = 0; kk < TILE_N; kk++) c[kk] += a * b_s[j][kk];
    }
    __syncthreads();
  }
  int t = ldc * blockIdx.y * TILE_N + m;
  for (int i = 0; i < TILE_N; i++) C[t + i * ldc] = C[t + i * ldc] * beta + alpha * c[i];
}

int main() {
  {
    int w = 2050, h = 1999;
    float *a = mk<float>((size_t)w * h), *b = mk<float>((size_t)w * h);
    transposeNoBankConflicts<<<dim3((w + 31) / 32, (h + 31) / 32), dim3(TILE_DIM, BLOCK_ROWS)>>>(b, a, w, h);
    show("transposeNoBankConflicts", b, (size_t)w * h * 4);
  }
  {
    size_t w = 1024, h = 4096;
    double *a = mk<double>(w * h), *b = mk<double>(w * h);
    transposeCoalesced16<<<dim3(w / BDIM, h / BDIM), dim3(BDIM, BDIM)>>>(b, a, w, h);
    show("transposeCoalesced16", b, w * h * 8);
  }
  {
    int hA = 320, wA = 640, wB = 960;
    float *A = mk<float>(hA * wA), *B = mk<float>(wA * wB), *C = mk<float>(hA * wB);
    matrixMulCUDA<32><<<dim3(wB / 32, hA / 32), dim3(32, 32)>>>(C, A, B, wA, wB);
    show("matrixMulCUDA", C, hA * wB * 4);
  }
  {
    int m = 517, k = 301, n = 733;
    float *A = mk<float>(m * k), *B = mk<float>(k * n), *C = mk<float>(m * n);
    matrixMultiplyShared<<<dim3((n - 1) / TILE_WIDTH + 1, (m - 1) / TILE_WIDTH + 1), dim3(TILE_WIDTH, TILE_WIDTH)>>>(A, B, C, m, k, k, n, m, n);
    show("matrixMultiplyShared", C, m * n * 4);
  }
  {
    int m = 1024, n = 992, k = 528;
    float *A = mk<float>(m * k), *B = mk<float>(n * k), *C = mk<float>(m * n);
    mysgemmNT<<<dim3(m / TILE_M, n / TILE_N), dim3(TILE_N, TILE_TB_HEIGHT)>>>(A, m, B, n, C, m, k, 1.5f, 0.25f);
    show("mysgemmNT", C, m * n * 4);
  }
}
