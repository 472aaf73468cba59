// C -= A * A^T, lower triangle of tiles only (trailing update of a blocked Cholesky).
#include "bench.h"

#define NB 32

__global__ void trailingUpdate(float *C, const float *A, int n, int k, int lda) {
  if (blockIdx.x > blockIdx.y)
    return;
  __shared__ float rowTile[NB][NB + 1];
  __shared__ float colTile[NB][NB + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int r = blockIdx.y * NB + ty;
  const int c = blockIdx.x * NB + tx;
  float acc = 0;
  for (int t = 0; t < k; t += NB) {
    rowTile[ty][tx] = A[(size_t)(blockIdx.y * NB + ty) * lda + t + tx];
    colTile[ty][tx] = A[(size_t)(blockIdx.x * NB + ty) * lda + t + tx];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < NB; ++j)
      acc += rowTile[ty][j] * colTile[tx][j];
    __syncthreads();
  }
  if (c <= r)
    C[(size_t)r * n + c] -= acc;
}

int main() {
  const int n = 4096, k = 256;
  std::vector<float> h = randomFloats((size_t)n * n, 261);
  float *C = toDevice(h);
  float *A = toDevice(randomFloats((size_t)n * k, 262, -1, 1));
  dim3 block(NB, NB), grid(n / NB, n / NB);
  auto update = [&]() { trailingUpdate<<<grid, block>>>(C, A, n, k, k); };
  float ms = timeMin(update);
  CUDA_CHECK(cudaMemcpy(C, h.data(), h.size() * sizeof(float), cudaMemcpyHostToDevice));
  update();
  printTime("trailingUpdate", ms);
  printHash("trailingUpdate", C, (size_t)n * n);
}
