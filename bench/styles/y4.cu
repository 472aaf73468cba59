// dense linear algebra: shared-memory GEMM variants
#include <iostream>
#include <vector>
#include <cstdlib>
#include <cuda_runtime.h>
#include <cuda_fp16.h>

#define TILE_DIM 16

static inline int divUp(int a, int b) { return (a + b - 1) / b; }
static void ok(cudaError_t e) {
  if (e != cudaSuccess) { std::cerr << cudaGetErrorString(e) << std::endl; std::exit(1); }
}

// C = A * B, any n, zero padded tiles
__global__ void matMulTiled(const float *A, const float *B, float *C, int n) {
  __shared__ float As[TILE_DIM][TILE_DIM];
  __shared__ float Bs[TILE_DIM][TILE_DIM];
  int row = blockIdx.y * TILE_DIM + threadIdx.y;
  int col = blockIdx.x * TILE_DIM + threadIdx.x;
  float sum = 0.0f;
  for (int m = 0; m < (n + TILE_DIM - 1) / TILE_DIM; m++) {
    if (row < n && m * TILE_DIM + threadIdx.x < n) As[threadIdx.y][threadIdx.x] = A[row * n + m * TILE_DIM + threadIdx.x];
    else As[threadIdx.y][threadIdx.x] = 0.0f;
    if (col < n && m * TILE_DIM + threadIdx.y < n) Bs[threadIdx.y][threadIdx.x] = B[(m * TILE_DIM + threadIdx.y) * n + col];
    else Bs[threadIdx.y][threadIdx.x] = 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE_DIM; k++) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  if (row < n && col < n) C[row * n + col] = sum;
}

// C = A^T * B; A is k x m, B is k x n, all row major
__global__ void gemm_tn(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int m, int n, int k) {
  __shared__ float at[32][33];
  __shared__ float bt[32][33];
  int tx = threadIdx.x, ty = threadIdx.y;
  int i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;
  float c[4] = {0.f, 0.f, 0.f, 0.f};
  for (int p = 0; p < k; p += 32) {
    for (int r = ty; r < 32; r += 8) {
      at[r][tx] = (p + r < k && i0 + tx < m) ? A[(size_t)(p + r) * m + i0 + tx] : 0.f;
      bt[r][tx] = (p + r < k && j0 + tx < n) ? B[(size_t)(p + r) * n + j0 + tx] : 0.f;
    }
    __syncthreads();
#pragma unroll 8
    for (int q = 0; q < 32; q++) {
      float b = bt[q][tx];
      c[0] += at[q][ty] * b;
      c[1] += at[q][ty + 8] * b;
      c[2] += at[q][ty + 16] * b;
      c[3] += at[q][ty + 24] * b;
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; r++) {
    int i = i0 + ty + 8 * r, j = j0 + tx;
    if (i < m && j < n) C[(size_t)i * n + j] = c[r];
  }
}

// many small double products, column major as in BLAS, one block (16x16) handles a tile of one problem
__global__ void dgemm_batched_cm(const double *A, const double *B, double *C, int n, double alpha) {
  __shared__ double sa[16][17], sb[16][17];
  size_t off = (size_t)blockIdx.z * n * n;
  int i = blockIdx.x * 16 + threadIdx.x;
  int j = blockIdx.y * 16 + threadIdx.y;
  double acc = 0.0;
  for (int kk = 0; kk < n; kk += 16) {
    int ka = kk + threadIdx.y, kb = kk + threadIdx.x;
    sa[threadIdx.y][threadIdx.x] = (i < n && ka < n) ? A[off + i + (size_t)ka * n] : 0.0;
    sb[threadIdx.y][threadIdx.x] = (j < n && kb < n) ? B[off + kb + (size_t)j * n] : 0.0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) acc += sa[k][threadIdx.x] * sb[threadIdx.y][k];
    __syncthreads();
  }
  if (i < n && j < n) C[off + i + (size_t)j * n] = alpha * acc;
}

// 64x64 per block, 4x4 per thread
template <int BM, int BN, int BK, int TM>
__global__ void sgemm_reg(int M, int N, int K, const float *A, const float *B, float *C) {
  __shared__ float As[BK][BM];
  __shared__ float Bs[BK][BN];
  int tid = threadIdx.x;
  int tr = tid / (BN / TM), tc = tid % (BN / TM);
  float acc[TM][TM] = {};
  float ra[TM], rb[TM];
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int e = tid; e < BM * BK; e += blockDim.x) {
      int r = e / BK, c = e % BK;
      int gr = blockIdx.y * BM + r, gc = k0 + c;
      As[c][r] = (gr < M && gc < K) ? A[gr * K + gc] : 0.f;
    }
    for (int e = tid; e < BK * BN; e += blockDim.x) {
      int r = e / BN, c = e % BN;
      int gr = k0 + r, gc = blockIdx.x * BN + c;
      Bs[r][c] = (gr < K && gc < N) ? B[gr * N + gc] : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k++) {
#pragma unroll
      for (int i = 0; i < TM; i++) { ra[i] = As[k][tr * TM + i]; rb[i] = Bs[k][tc * TM + i]; }
#pragma unroll
      for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TM; j++) acc[i][j] += ra[i] * rb[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; i++)
    for (int j = 0; j < TM; j++) {
      int gr = blockIdx.y * BM + tr * TM + i, gc = blockIdx.x * BN + tc * TM + j;
      if (gr < M && gc < N) C[gr * N + gc] = acc[i][j];
    }
}

// half operands, float accumulators
__global__ void hgemm_simple(const half *A, const half *B, float *C, int M, int N, int K) {
  __shared__ half a_s[TILE_DIM][TILE_DIM + 2];
  __shared__ half b_s[TILE_DIM][TILE_DIM + 2];
  int r = blockIdx.y * TILE_DIM + threadIdx.y, c = blockIdx.x * TILE_DIM + threadIdx.x;
  float acc = 0.f;
  for (int t = 0; t < K; t += TILE_DIM) {
    a_s[threadIdx.y][threadIdx.x] = (r < M && t + threadIdx.x < K) ? A[r * K + t + threadIdx.x] : __float2half(0.f);
    b_s[threadIdx.y][threadIdx.x] = (c < N && t + threadIdx.y < K) ? B[(t + threadIdx.y) * N + c] : __float2half(0.f);
    __syncthreads();
    for (int k = 0; k < TILE_DIM; k++) acc += __half2float(a_s[threadIdx.y][k]) * __half2float(b_s[k][threadIdx.x]);
    __syncthreads();
  }
  if (r < M && c < N) C[r * N + c] = acc;
}

// y = A x, chunks of x staged
__global__ void matvec_chunks(const float *A, const float *x, float *y, int rows, int cols) {
  __shared__ float xs[256];
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  float dot = 0;
  for (int c0 = 0; c0 < cols; c0 += 256) {
    int len = min(256, cols - c0);
    if (threadIdx.x < len) xs[threadIdx.x] = x[c0 + threadIdx.x];
    __syncthreads();
    if (r < rows)
      for (int c = 0; c < len; c++) dot += A[(size_t)(c0 + c) * rows + r] * xs[c];  // A column major
    __syncthreads();
  }
  if (r < rows) y[r] = dot;
}

int main(int argc, char *argv[]) {
  int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  int m = 1100, k = 700;
  size_t big = 2048 * 2048;
  std::vector<float> h(big);
  for (size_t i = 0; i < big; i++) h[i] = (float)((i * 31 + 7) % 113) / 113.f - 0.5f;
  float *a, *b, *c;
  ok(cudaMalloc(&a, big * 4)); ok(cudaMalloc(&b, big * 4)); ok(cudaMalloc(&c, big * 4));
  ok(cudaMemcpy(a, h.data(), big * 4, cudaMemcpyHostToDevice));
  ok(cudaMemcpy(b, h.data(), big * 4, cudaMemcpyHostToDevice));
  dim3 t16(TILE_DIM, TILE_DIM);
  matMulTiled<<<dim3(divUp(n, TILE_DIM), divUp(n, TILE_DIM)), t16>>>(a, b, c, n);
  gemm_tn<<<dim3(divUp(n, 32), divUp(m, 32)), dim3(32, 8)>>>(a, b, c, m, n, k);
  sgemm_reg<64, 64, 16, 4><<<dim3(divUp(1500, 64), divUp(1300, 64)), 256>>>(1300, 1500, 1024, a, b, c);
  ok(cudaGetLastError());

  int nb = 300, ns = 100;
  std::vector<double> hd((size_t)nb * ns * ns);
  for (size_t i = 0; i < hd.size(); i++) hd[i] = (double)(i % 91) / 91.0;
  double *da, *db, *dc;
  ok(cudaMalloc(&da, hd.size() * 8)); ok(cudaMalloc(&db, hd.size() * 8)); ok(cudaMalloc(&dc, hd.size() * 8));
  ok(cudaMemcpy(da, hd.data(), hd.size() * 8, cudaMemcpyHostToDevice));
  ok(cudaMemcpy(db, hd.data(), hd.size() * 8, cudaMemcpyHostToDevice));
  dgemm_batched_cm<<<dim3(divUp(ns, 16), divUp(ns, 16), nb), dim3(16, 16)>>>(da, db, dc, ns, 0.5);
  ok(cudaGetLastError());

  std::vector<half> hh(1024 * 1024);
  for (size_t i = 0; i < hh.size(); i++) hh[i] = __float2half((float)(i % 17) * 0.05f);
  half *ha, *hb;
  ok(cudaMalloc(&ha, hh.size() * 2)); ok(cudaMalloc(&hb, hh.size() * 2));
  ok(cudaMemcpy(ha, hh.data(), hh.size() * 2, cudaMemcpyHostToDevice));
  ok(cudaMemcpy(hb, hh.data(), hh.size() * 2, cudaMemcpyHostToDevice));
  hgemm_simple<<<dim3(divUp(1024, 16), divUp(1024, 16)), t16>>>(ha, hb, c, 1024, 1024, 1024);
  ok(cudaGetLastError());

  float *x = b, *y = c;
  matvec_chunks<<<divUp(2048, 256), 256>>>(a, x, y, 2048, 2000);
  ok(cudaGetLastError());
  ok(cudaDeviceSynchronize());
  cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(da); cudaFree(db); cudaFree(dc); cudaFree(ha); cudaFree(hb);
  return 0;
}
