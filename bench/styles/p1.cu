// matrix products I
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <cuda_runtime.h>
#define checkCudaErrors(val) do { cudaError_t r = (val); if (r) { fprintf(stderr, "CUDA error %d at %s:%d\n", (int)r, __FILE__, __LINE__); exit(99); } } while (0)
#define TILE 16
// 1. programming guide struct matrix style
typedef struct { int width; int height; int stride; float *elements; } Matrix;
__device__ float GetElement(const Matrix A, int row, int col) { return A.elements[row * A.stride + col]; }
__device__ void SetElement(Matrix A, int row, int col, float value) { A.elements[row * A.stride + col] = value; }
__device__ Matrix GetSubMatrix(Matrix A, int row, int col) {
  Matrix Asub;
  Asub.width = TILE; Asub.height = TILE; Asub.stride = A.stride;
  Asub.elements = &A.elements[A.stride * TILE * row + TILE * col];
  return Asub;
}
__global__ void MatMulKernel(Matrix A, Matrix B, Matrix C) {
  int blockRow = blockIdx.y, blockCol = blockIdx.x;
  Matrix Csub = GetSubMatrix(C, blockRow, blockCol);
  float Cvalue = 0;
  int row = threadIdx.y, col = threadIdx.x;
  for (int m = 0; m < (A.width / TILE); ++m) {
    Matrix Asub = GetSubMatrix(A, blockRow, m);
    Matrix Bsub = GetSubMatrix(B, m, blockCol);
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    As[row][col] = GetElement(Asub, row, col);
    Bs[row][col] = GetElement(Bsub, row, col);
    __syncthreads();
    for (int e = 0; e < TILE; ++e) Cvalue += As[row][e] * Bs[e][col];
    __syncthreads();
  }
  SetElement(Csub, row, col, Cvalue);
}
// 2. guarded with ceil-div, 32x32
template <int BS>
__global__ void sgemm_guarded(const float *A, const float *B, float *C, int M, int N, int K, float alpha, float beta) {
  __shared__ float As[BS][BS];
  __shared__ float Bs[BS][BS];
  int row = blockIdx.y * BS + threadIdx.y, col = blockIdx.x * BS + threadIdx.x;
  float acc = 0.f;
  for (int t = 0; t < (K + BS - 1) / BS; ++t) {
    int ka = t * BS + threadIdx.x, kb = t * BS + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = (row < M && ka < K) ? A[row * K + ka] : 0.f;
    Bs[threadIdx.y][threadIdx.x] = (kb < K && col < N) ? B[kb * N + col] : 0.f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BS; ++k) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = alpha * acc + beta * C[row * N + col];
}
// 3. siboehm-like 1D blocktiling
template <const int BM, const int BN, const int BK, const int TM>
__global__ void sgemm1DBlocktiling(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  const unsigned cRow = blockIdx.y;
  const unsigned cCol = blockIdx.x;
  const int threadCol = threadIdx.x % BN;
  const int threadRow = threadIdx.x / BN;
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  A += cRow * BM * K;
  B += cCol * BN;
  C += cRow * BM * N + cCol * BN;
  const unsigned innerColA = threadIdx.x % BK;
  const unsigned innerRowA = threadIdx.x / BK;
  const unsigned innerColB = threadIdx.x % BN;
  const unsigned innerRowB = threadIdx.x / BN;
  float threadResults[TM] = {0.0};
  for (unsigned bkIdx = 0; bkIdx < K; bkIdx += BK) {
    As[innerRowA * BK + innerColA] = A[innerRowA * K + innerColA];
    Bs[innerRowB * BN + innerColB] = B[innerRowB * N + innerColB];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (unsigned dotIdx = 0; dotIdx < BK; ++dotIdx) {
      float tmpB = Bs[dotIdx * BN + threadCol];
      for (unsigned resIdx = 0; resIdx < TM; ++resIdx) threadResults[resIdx] += As[(threadRow * TM + resIdx) * BK + dotIdx] * tmpB;
    }
    __syncthreads();
  }
  for (unsigned resIdx = 0; resIdx < TM; ++resIdx)
    C[(threadRow * TM + resIdx) * N + threadCol] = alpha * threadResults[resIdx] + beta * C[(threadRow * TM + resIdx) * N + threadCol];
}
// 4. siboehm-like shared mem block with 1-D thread block of 1024
template <const int BLOCKSIZE>
__global__ void sgemm_shared_mem_block(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  const unsigned cRow = blockIdx.x;
  const unsigned cCol = blockIdx.y;
  __shared__ float As[BLOCKSIZE * BLOCKSIZE];
  __shared__ float Bs[BLOCKSIZE * BLOCKSIZE];
  const unsigned threadCol = threadIdx.x % BLOCKSIZE;
  const unsigned threadRow = threadIdx.x / BLOCKSIZE;
  A += cRow * BLOCKSIZE * K;
  B += cCol * BLOCKSIZE;
  C += cRow * BLOCKSIZE * N + cCol * BLOCKSIZE;
  float tmp = 0.0;
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
// 5. NVIDIA sample matrixMul wA wB
template <int BLOCK_SIZE> __global__ void MatrixMulCUDA(float *C, float *A, float *B, int wA, int wB) {
  int bx = blockIdx.x;
  int by = blockIdx.y;
  int tx = threadIdx.x;
  int ty = threadIdx.y;
  int aBegin = wA * BLOCK_SIZE * by;
  int aEnd = aBegin + wA - 1;
  int aStep = BLOCK_SIZE;
  int bBegin = BLOCK_SIZE * bx;
  int bStep = BLOCK_SIZE * wB;
  float Csub = 0;
  for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
    __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
    As[ty][tx] = A[a + wA * ty + tx];
    Bs[ty][tx] = B[b + wB * ty + tx];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BLOCK_SIZE; ++k) Csub += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  int c = wB * BLOCK_SIZE * by + BLOCK_SIZE * bx;
  C[c + wB * ty + tx] = Csub;
}
// 6. batched matmul NT (attention scores Q K^T) with scale
__global__ void qk_scores(const float *Q, const float *Kmat, float *S, int T, int D, float scale) {
  __shared__ float q[16][17];
  __shared__ float k[16][17];
  int bh = blockIdx.z;
  const float *Qb = Q + (size_t)bh * T * D;
  const float *Kb = Kmat + (size_t)bh * T * D;
  int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;
  float acc = 0.f;
  for (int d0 = 0; d0 < D; d0 += 16) {
    q[threadIdx.y][threadIdx.x] = r < T ? Qb[r * D + d0 + threadIdx.x] : 0.f;
    int kr = blockIdx.x * 16 + threadIdx.y;
    k[threadIdx.y][threadIdx.x] = kr < T ? Kb[kr * D + d0 + threadIdx.x] : 0.f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) acc += q[threadIdx.y][i] * k[threadIdx.x][i];
    __syncthreads();
  }
  if (r < T && c < T) S[((size_t)bh * T + r) * T + c] = c <= r ? acc * scale : -INFINITY;
}
// 7. syrk lower: C = A A^T with early out of upper blocks
__global__ void syrk_lower(const double *A, double *C, int n, int k) {
  __shared__ double X[16][16], Y[16][16 + 1];
  if (blockIdx.x > blockIdx.y) return;
  int tx = threadIdx.x, ty = threadIdx.y;
  int i = blockIdx.y * 16 + ty, j = blockIdx.x * 16 + tx;
  double s = 0;
  for (int p = 0; p < k; p += 16) {
    X[ty][tx] = A[(blockIdx.y * 16 + ty) * k + p + tx];
    Y[ty][tx] = A[(blockIdx.x * 16 + ty) * k + p + tx];
    __syncthreads();
    for (int q = 0; q < 16; q++) s += X[ty][q] * Y[tx][q];
    __syncthreads();
  }
  if (j <= i) C[i * n + j] = s;
}
// 8. matmul AT*B (PolyBench atax style/tiled correlation): both column tiles
__global__ void gemmTN(const float *A, const float *B, float *C, int M, int N, int K) {
  __shared__ float sa[8][32];
  __shared__ float sb[8][32];
  int tid = threadIdx.y * 32 + threadIdx.x;
  int lr = tid / 32, lc = tid % 32;
  int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  float c0 = 0, c1 = 0, c2 = 0, c3 = 0;
  for (int k0 = 0; k0 < K; k0 += 8) {
    sa[lr][lc] = A[(k0 + lr) * M + blockIdx.y * 32 + lc];
    sb[lr][lc] = B[(k0 + lr) * N + blockIdx.x * 32 + lc];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      float b = sb[k][threadIdx.x];
      c0 += sa[k][threadIdx.y] * b;
      c1 += sa[k][threadIdx.y + 8] * b;
      c2 += sa[k][threadIdx.y + 16] * b;
      c3 += sa[k][threadIdx.y + 24] * b;
    }
    __syncthreads();
  }
  C[row * N + col] = c0;
  C[(row + 8) * N + col] = c1;
  C[(row + 16) * N + col] = c2;
  C[(row + 24) * N + col] = c3;
}
template <class T> T *mk(size_t n) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  for (size_t i = 0; i < n; ++i) h[i] = (T)((i * 7919u) % 251) / 16;
  checkCudaErrors(cudaMalloc(&d, n * sizeof(T)));
  checkCudaErrors(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1024;
  float *a = mk<float>(n * n), *b = mk<float>(n * n), *c = mk<float>(n * n);
  double *da = mk<double>(n * n), *dc = mk<double>(n * n);
  Matrix A = {n, n, n, a}, B = {n, n, n, b}, C = {n, n, n, c};
  dim3 dimBlock(TILE, TILE), dimGrid(B.width / dimBlock.x, A.height / dimBlock.y);
  MatMulKernel<<<dimGrid, dimBlock>>>(A, B, C);
  int M = n - 5, N = n - 3, K = n - 7;
  dim3 b32(32, 32);
  sgemm_guarded<32><<<dim3((N + 31) / 32, (M + 31) / 32), b32>>>(a, b, c, M, N, K, 0.5f, 0.25f);
  const int BM = 64, BN = 64, BK = 8, TM = 8;
  sgemm1DBlocktiling<BM, BN, BK, TM><<<dim3(n / BN, n / BM), (BM * BN) / TM>>>(n, n, n, 1.f, a, b, 0.5f, c);
  sgemm_shared_mem_block<32><<<dim3(n / 32, n / 32), 32 * 32>>>(n, n, n, 1.f, a, b, 0.5f, c);
  MatrixMulCUDA<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(c, a, b, n, n);
  int T = n / 2 - 3;
  qk_scores<<<dim3((T + 15) / 16, (T + 15) / 16, 2), dim3(16, 16)>>>(a, b, c, T, 64, 0.125f);
  syrk_lower<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(da, dc, n, 64);
  gemmTN<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(a, b, c, n, n, n);
  checkCudaErrors(cudaGetLastError());
  checkCudaErrors(cudaDeviceSynchronize());
  return 0;
}
