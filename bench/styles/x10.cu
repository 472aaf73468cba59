// data movement and histograms
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>
using std::vector;
#define CHECK_CUDA(func)                                                       \
  {                                                                            \
    cudaError_t status = (func);                                               \
    if (status != cudaSuccess) {                                               \
      printf("CUDA API failed at line %d with error: %s (%d)\n", __LINE__, cudaGetErrorString(status), status); \
      return EXIT_FAILURE;                                                     \
    }                                                                          \
  }

// 32 bins with a byte counter for every thread: no atomics
#define NB 32
#define NT 64
__global__ void histogram_bytes(const uint8_t *d, uint32_t *partial, int perThread) {
  __shared__ uint8_t cnt[NB * NT];
  for (int b = 0; b < NB; b++) cnt[b * NT + threadIdx.x] = 0;
  const uint8_t *p = d + (size_t)blockIdx.x * NT * perThread;
  for (int i = 0; i < perThread; i++) cnt[(p[i * NT + threadIdx.x] >> 3) * NT + threadIdx.x]++;
  __syncthreads();
  if (threadIdx.x < NB) {
    uint32_t s = 0;
    for (int i = 0; i < NT; i++) s += cnt[threadIdx.x * NT + (i + threadIdx.x) % NT];
    partial[blockIdx.x * NB + threadIdx.x] = s;
  }
}

#define TILE_DIM 32
#define BLOCK_ROWS 8
// reversal of a long array, each block reverses its segment in dynamic shared memory
__global__ void reverseArrayBlock(int *d_out, const int *d_in) {
  extern __shared__ int s_data[];
  int inOffset = blockDim.x * blockIdx.x;
  int in = inOffset + threadIdx.x;
  s_data[blockDim.x - 1 - threadIdx.x] = d_in[in];
  __syncthreads();
  int outOffset = blockDim.x * (gridDim.x - 1 - blockIdx.x);
  d_out[outOffset + threadIdx.x] = s_data[threadIdx.x];
}

int main() {
  const int N = 1 << 24;
  vector<uint32_t> h(N);
  for (int i = 0; i < N; i++) h[i] = (uint32_t)i * 2654435761u ^ (uint32_t)i >> 3;
  uint32_t *d, *e;
  unsigned *hist;
  CHECK_CUDA(cudaMalloc(&d, 4 * N))
  CHECK_CUDA(cudaMalloc(&e, 4 * N))
  CHECK_CUDA(cudaMalloc(&hist, 1 << 20))
  CHECK_CUDA(cudaMemcpy(d, h.data(), 4 * N, cudaMemcpyHostToDevice))
  CHECK_CUDA(cudaMemset(e, 0, 4 * N))
  CHECK_CUDA(cudaMemset(hist, 0, 1 << 20))
  histogram_bytes<<<4096, NT>>>((const uint8_t *)d, hist + 256, 250);
  for (int i = 0; i < N; i++) h[i] = i % 1000;  // small denormals as floats, who cares
  float *fa, *fb;
  CHECK_CUDA(cudaMalloc(&fa, 4 * N))
  CHECK_CUDA(cudaMalloc(&fb, 4 * N))
  CHECK_CUDA(cudaMemcpy(fa, h.data(), 4 * N, cudaMemcpyHostToDevice))
  reverseArrayBlock<<<N / 512, 512, 512 * sizeof(int)>>>((int *)e, (const int *)d);
  int np = 5000011;
  CHECK_CUDA(cudaGetLastError())
  CHECK_CUDA(cudaDeviceSynchronize())
  return 0;
}
