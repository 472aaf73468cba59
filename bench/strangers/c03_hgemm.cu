// Half-precision operands, float sums, 32x32 tiles; and a batch of small products.
#include "bench.h"
#include <cuda_fp16.h>

#define TILE_DIM 32

__global__ void hgemmTiled(const __half *A, const __half *B, float *C, int n) {
  __shared__ __half sA[TILE_DIM][TILE_DIM];
  __shared__ __half sB[TILE_DIM][TILE_DIM];
  const int row = blockIdx.y * TILE_DIM + threadIdx.y;
  const int col = blockIdx.x * TILE_DIM + threadIdx.x;
  float acc = 0.f;
  for (int m = 0; m < n / TILE_DIM; m++) {
    sA[threadIdx.y][threadIdx.x] = A[row * n + m * TILE_DIM + threadIdx.x];
    sB[threadIdx.y][threadIdx.x] = B[(m * TILE_DIM + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < TILE_DIM; k++)
      acc += __half2float(sA[threadIdx.y][k]) * __half2float(sB[k][threadIdx.x]);
    __syncthreads();
  }
  C[row * n + col] = acc;
}

#define S 48

// one product of 48x48 matrices in a block row of 16x16 threads
__global__ void batchedGemm(const float *A, const float *B, float *C) {
  __shared__ float a[16][16], b[16][16];
  const size_t off = (size_t)blockIdx.z * S * S;
  const int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;
  float s = 0;
  for (int t = 0; t < S; t += 16) {
    a[threadIdx.y][threadIdx.x] = A[off + r * S + t + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = B[off + (t + threadIdx.y) * S + c];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k)
      s += a[threadIdx.y][k] * b[k][threadIdx.x];
    __syncthreads();
  }
  C[off + r * S + c] = s;
}

int main() {
  const int n = 1024;
  std::vector<__half> h((size_t)n * n);
  Rng r(221);
  for (auto &v : h)
    v = __float2half(r.uniform() - 0.5f);
  __half *A = toDevice(h);
  for (auto &v : h)
    v = __float2half(r.uniform() - 0.5f);
  __half *B = toDevice(h);
  float *C = deviceAlloc<float>((size_t)n * n);
  dim3 grid(n / TILE_DIM, n / TILE_DIM), block(TILE_DIM, TILE_DIM);
  printTime("hgemmTiled", timeMin([&] { hgemmTiled<<<grid, block>>>(A, B, C, n); }));
  printHash("hgemmTiled", C, (size_t)n * n);

  const int batch = 4096;
  const size_t total = (size_t)batch * S * S;
  float *bA = toDevice(randomFloats(total, 222)), *bB = toDevice(randomFloats(total, 223)), *bC = deviceAlloc<float>(total);
  dim3 bgrid(S / 16, S / 16, batch), bblock(16, 16);
  printTime("batchedGemm", timeMin([&] { batchedGemm<<<bgrid, bblock>>>(bA, bB, bC); }));
  printHash("batchedGemm", bC, total);
}
