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

#define TILE_WIDTH 16
// C = A^T * B, both read along rows
__global__ void gemm_tn(const float *At, const float *B, float *C, int m, int n, int k) {
  __shared__ float sa[32][32], sb[32][32];
  int tx = threadIdx.x, ty = threadIdx.y;
  int i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;
  float acc[4] = {0, 0, 0, 0};
  for (int p = 0; p < k; p += 32) {
    for (int r = ty; r < 32; r += 8) {
      sa[r][tx] = (p + r < k && i0 + tx < m) ? At[(p + r) * m + i0 + tx] : 0.f;
      sb[r][tx] = (p + r < k && j0 + tx < n) ? B[(p + r) * n + j0 + tx] : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 32; q++) {
      float b = sb[q][tx];
#pragma unroll
      for (int r = 0; r < 4; r++) acc[r] += sa[q][ty + 8 * r] * b;
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; r++)
    if (i0 + ty + 8 * r < m && j0 + tx < n) C[(i0 + ty + 8 * r) * n + j0 + tx] = acc[r];
}

// batched small products
__global__ void batchedGemm(const float *A, const float *B, float *C, int n) {
  __shared__ float a[8][8], b[8][8];
  size_t off = (size_t)blockIdx.z * n * n;
  int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
  float s = 0.f;
  for (int t = 0; t < n / 8; t++) {
    a[threadIdx.y][threadIdx.x] = A[off + row * n + t * 8 + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = B[off + (t * 8 + threadIdx.y) * n + col];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) s = fmaf(a[threadIdx.y][k], b[k][threadIdx.x], s);
    __syncthreads();
  }
  C[off + row * n + col] = s;
}

#define HT 32
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
  cudaCheck(cudaGetLastError());
  double *dA = devRand<double>(big * big, 21, 0.1f), *dB = devRand<double>(big * big, 21, 0.1f), *dC = devRand<double>(big * big, 21, 0.1f);
  cudaCheck(cudaGetLastError());
  const int sz = 2048;
  float *A2 = devRand<float>(sz * sz, 21, 0.1f), *B2 = devRand<float>(sz * sz, 21, 0.1f), *C2 = devRand<float>(sz * sz, 21, 0.1f);
  cudaCheck(cudaGetLastError());
  gemm_tn<<<dim3(CEIL_DIV(1111, 32), CEIL_DIV(777, 32)), dim3(32, 8)>>>(A2, B2, C2, 777, 1111, 900);
  cudaCheck(cudaGetLastError());
  batchedGemm<<<dim3(8, 8, 512), dim3(8, 8)>>>(A2, B2, C2, 64);
  cudaCheck(cudaGetLastError());
  half *hA = devRand<half>(big * big, 21, 0.1f), *hB = devRand<half>(big * big, 21, 0.1f), *hC = devRand<half>(big * big, 21, 0.1f);
  cudaCheck(cudaGetLastError());
  int8_t *qa = devRand<int8_t>(big * big, 250, 1.f), *qb = devRand<int8_t>(big * big, 250, 1.f);
  int32_t *qc = devRand<int32_t>(big * big, 3, 0.f);
  cudaCheck(cudaGetLastError());
  cudaCheck(cudaDeviceSynchronize());
  return 0;
}
