// GEMM zoo
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#define cudaCheck(err) (cudaCheckImpl(err, __FILE__, __LINE__))
void cudaCheckImpl(cudaError_t error, const char *file, int line) {
  if (error != cudaSuccess) {
    printf("[CUDA ERROR] at file %s:%d:\n%s\n", file, line, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
  }
}
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))

// the lecture one, any size, tile of 16
#define TILE_WIDTH 16
__global__ void matrixMultiplyShared(const float *A, const float *B, float *C, int numARows, int numAColumns, int numBColumns) {
  __shared__ float ds_A[TILE_WIDTH][TILE_WIDTH];
  __shared__ float ds_B[TILE_WIDTH][TILE_WIDTH];
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int Row = by * TILE_WIDTH + ty;
  int Col = bx * TILE_WIDTH + tx;
  float Pvalue = 0;
  for (int m = 0; m < (numAColumns - 1) / TILE_WIDTH + 1; ++m) {
    if (Row < numARows && m * TILE_WIDTH + tx < numAColumns)
      ds_A[ty][tx] = A[Row * numAColumns + m * TILE_WIDTH + tx];
    else
      ds_A[ty][tx] = 0;
    if (Col < numBColumns && m * TILE_WIDTH + ty < numAColumns)
      ds_B[ty][tx] = B[(m * TILE_WIDTH + ty) * numBColumns + Col];
    else
      ds_B[ty][tx] = 0;
    __syncthreads();
    for (int k = 0; k < TILE_WIDTH; ++k) Pvalue += ds_A[ty][k] * ds_B[k][tx];
    __syncthreads();
  }
  if (Row < numARows && Col < numBColumns) C[Row * numBColumns + Col] = Pvalue;
}

// double, block 32x32, advancing pointers, alpha/beta
template <const int BLOCKSIZE> __global__ void dgemm_shared_mem_block(int M, int N, int K, double alpha, const double *A, const double *B, double beta, double *C) {
  const unsigned cRow = blockIdx.x;
  const unsigned cCol = blockIdx.y;
  __shared__ double As[BLOCKSIZE * BLOCKSIZE];
  __shared__ double Bs[BLOCKSIZE * BLOCKSIZE];
  const unsigned threadCol = threadIdx.x % BLOCKSIZE;
  const unsigned threadRow = threadIdx.x / BLOCKSIZE;
  A += cRow * BLOCKSIZE * K;
  B += cCol * BLOCKSIZE;
  C += cRow * BLOCKSIZE * N + cCol * BLOCKSIZE;
  double tmp = 0.0;
  for (int bkIdx = 0; bkIdx < K; bkIdx += BLOCKSIZE) {
    As[threadRow * BLOCKSIZE + threadCol] = A[threadRow * K + threadCol];
    Bs[threadRow * BLOCKSIZE + threadCol] = B[threadRow * N + threadCol];
    __syncthreads();
    A += BLOCKSIZE;
    B += BLOCKSIZE * N;
    for (int dotIdx = 0; dotIdx < BLOCKSIZE; ++dotIdx) tmp += As[threadRow * BLOCKSIZE + dotIdx] * Bs[dotIdx * BLOCKSIZE + threadCol];
    __syncthreads();
  }
  C[threadRow * N + threadCol] = alpha * tmp + beta * C[threadRow * N + threadCol];
}

// 1D blocktiling: 64x64 tile of C, 8 results a thread, 512 threads
template <const int BM, const int BN, const int BK, const int TM>
__global__ void sgemm1DBlocktiling(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  const uint cRow = blockIdx.y;
  const uint cCol = blockIdx.x;
  const int threadCol = threadIdx.x % BN;
  const int threadRow = threadIdx.x / BN;
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  A += cRow * BM * K;
  B += cCol * BN;
  C += cRow * BM * N + cCol * BN;
  const uint innerColA = threadIdx.x % BK;
  const uint innerRowA = threadIdx.x / BK;
  const uint innerColB = threadIdx.x % BN;
  const uint innerRowB = threadIdx.x / BN;
  float threadResults[TM] = {0.0};
  for (uint bkIdx = 0; bkIdx < K; bkIdx += BK) {
    As[innerRowA * BK + innerColA] = A[innerRowA * K + innerColA];
    Bs[innerRowB * BN + innerColB] = B[innerRowB * N + innerColB];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
      float tmpB = Bs[dotIdx * BN + threadCol];
      for (uint resIdx = 0; resIdx < TM; ++resIdx) threadResults[resIdx] += As[(threadRow * TM + resIdx) * BK + dotIdx] * tmpB;
    }
    __syncthreads();
  }
  for (uint resIdx = 0; resIdx < TM; ++resIdx)
    C[(threadRow * TM + resIdx) * N + threadCol] = alpha * threadResults[resIdx] + beta * C[(threadRow * TM + resIdx) * N + threadCol];
}

// half in, float accumulate, B given transposed, padded
#define HT 32
__global__ void hgemm_nt(const half *__restrict__ A, const half *__restrict__ Bt, half *__restrict__ C, int M, int N, int K) {
  __shared__ half As[HT][HT + 2];
  __shared__ half Bs[HT][HT + 2];
  int row = blockIdx.y * HT + threadIdx.y;
  int col = blockIdx.x * HT + threadIdx.x;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += HT) {
    As[threadIdx.y][threadIdx.x] = A[(size_t)row * K + k0 + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = Bt[(size_t)(blockIdx.x * HT + threadIdx.y) * K + k0 + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < HT; k++) sum += __half2float(As[threadIdx.y][k]) * __half2float(Bs[threadIdx.x][k]);
    __syncthreads();
  }
  C[(size_t)row * N + col] = __float2half(sum);
}

// int8 -> int32
__global__ void igemm_s8(const int8_t *a, const int8_t *b, int32_t *c, int m, int n, int k) {
  __shared__ int8_t ta[16][16], tb[16][16];
  int r = blockIdx.y * 16 + threadIdx.y, q = blockIdx.x * 16 + threadIdx.x;
  int32_t acc = 0;
  for (int t = 0; t < CEIL_DIV(k, 16); t++) {
    int ka = t * 16 + threadIdx.x, kb = t * 16 + threadIdx.y;
    ta[threadIdx.y][threadIdx.x] = r < m && ka < k ? a[r * k + ka] : int8_t(0);
    tb[threadIdx.y][threadIdx.x] = q < n && kb < k ? b[kb * n + q] : int8_t(0);
    __syncthreads();
    for (int i = 0; i < 16; i++) acc += int32_t(ta[threadIdx.y][i]) * int32_t(tb[i][threadIdx.x]);
    __syncthreads();
  }
  if (r < m && q < n) c[r * n + q] = acc;
}

template <class T> T *devRand(size_t n, int range, float mul) {
  T *h = (T *)malloc(sizeof(T) * n), *d;
  uint32_t s = 1;
  for (size_t i = 0; i < n; i++) {
    s ^= s << 13; s ^= s >> 17; s ^= s << 5;
    h[i] = (T)(((int)(s % range) - range / 2) * mul);
  }
  cudaCheck(cudaMalloc((void **)&d, sizeof(T) * n));
  cudaCheck(cudaMemcpy(d, h, sizeof(T) * n, cudaMemcpyHostToDevice));
  free(h);
  return d;
}

int main() {
  const int big = 1024;
  float *A = devRand<float>(big * big, 21, 0.1f), *B = devRand<float>(big * big, 21, 0.1f), *C = devRand<float>(big * big, 3, 0.f);
  matrixMultiplyShared<<<dim3(CEIL_DIV(1000, TILE_WIDTH), CEIL_DIV(1000, TILE_WIDTH)), dim3(TILE_WIDTH, TILE_WIDTH)>>>(A, B, C, 1000, 1000, 1000);
  cudaCheck(cudaGetLastError());
  double *dA = devRand<double>(big * big, 21, 0.1f), *dB = devRand<double>(big * big, 21, 0.1f), *dC = devRand<double>(big * big, 21, 0.1f);
  dgemm_shared_mem_block<32><<<dim3(big / 32, big / 32), 32 * 32>>>(big, big, big, 1.5, dA, dB, 0.5, dC);
  cudaCheck(cudaGetLastError());
  const int sz = 2048;
  float *A2 = devRand<float>(sz * sz, 21, 0.1f), *B2 = devRand<float>(sz * sz, 21, 0.1f), *C2 = devRand<float>(sz * sz, 21, 0.1f);
  sgemm1DBlocktiling<64, 64, 8, 8><<<dim3(sz / 64, sz / 64), 64 * 64 / 8>>>(sz, sz, sz, 1.f, A2, B2, 0.25f, C2);
  cudaCheck(cudaGetLastError());
  half *hA = devRand<half>(big * big, 21, 0.1f), *hB = devRand<half>(big * big, 21, 0.1f), *hC = devRand<half>(big * big, 21, 0.1f);
  hgemm_nt<<<dim3(big / HT, big / HT), dim3(HT, HT)>>>(hA, hB, hC, big, big, big);
  cudaCheck(cudaGetLastError());
  int8_t *qa = devRand<int8_t>(big * big, 250, 1.f), *qb = devRand<int8_t>(big * big, 250, 1.f);
  int32_t *qc = devRand<int32_t>(big * big, 3, 0.f);
  igemm_s8<<<dim3(CEIL_DIV(1020, 16), CEIL_DIV(500, 16)), dim3(16, 16)>>>(qa, qb, qc, 500, 1020, 1010);
  cudaCheck(cudaGetLastError());
  cudaCheck(cudaDeviceSynchronize());
  return 0;
}
