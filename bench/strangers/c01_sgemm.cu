// C = alpha * A * B + beta * C with 16x16 tiles and guarded edges; and 32x32 tiles for sizes that fit.
#include "bench.h"

#define TILE 16

__global__ void sgemmGuarded(int M, int N, int K, float alpha, const float *A, const float *B, float beta,
                             const float *Cin, float *C) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y;
  int col = blockIdx.x * TILE + threadIdx.x;
  float acc = 0.0f;
  for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
    int ka = t * TILE + threadIdx.x;
    int kb = t * TILE + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = (row < M && ka < K) ? A[row * K + ka] : 0.0f;
    Bs[threadIdx.y][threadIdx.x] = (kb < K && col < N) ? B[kb * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N)
    C[row * N + col] = alpha * acc + beta * Cin[row * N + col];
}

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
    for (int k = 0; k < BLOCK_SIZE; ++k)
      Csub += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  int c = wB * BLOCK_SIZE * by + BLOCK_SIZE * bx;
  C[c + wB * ty + tx] = Csub;
}

int main() {
  {
    const int M = 1500, N = 1900, K = 1001;
    float *A = toDevice(randomFloats((size_t)M * K, 201, -1, 1)), *B = toDevice(randomFloats((size_t)K * N, 202, -1, 1));
    float *Cin = toDevice(randomFloats((size_t)M * N, 203)), *C = deviceAlloc<float>((size_t)M * N);
    dim3 threads(TILE, TILE), grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    printTime("sgemmGuarded",
              timeMin([&] { sgemmGuarded<<<grid, threads>>>(M, N, K, 1.5f, A, B, 0.5f, Cin, C); }));
    printHash("sgemmGuarded", C, (size_t)M * N);
  }
  {
    const int block_size = 32;
    dim3 dimsA(1024, 1280, 1), dimsB(1536, 1024, 1);
    float *d_A = toDevice(randomFloats(dimsA.x * dimsA.y, 204)), *d_B = toDevice(randomFloats(dimsB.x * dimsB.y, 205));
    float *d_C = deviceAlloc<float>(dimsB.x * dimsA.y);
    dim3 threads(block_size, block_size);
    dim3 grid(dimsB.x / threads.x, dimsA.y / threads.y);
    printTime("MatrixMulCUDA",
              timeMin([&] { MatrixMulCUDA<32><<<grid, threads>>>(d_C, d_A, d_B, dimsA.x, dimsB.x); }));
    printHash("MatrixMulCUDA", d_C, dimsB.x * dimsA.y);
  }
}
