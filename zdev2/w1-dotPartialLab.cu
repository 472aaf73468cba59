// Lab 4: reductions
#include "h.h"
#include <cstdint>
#include <cfloat>

#define BLOCK_SIZE 256

static void show(const char *name, const void *dev, size_t bytes) {
  unsigned char *p = (unsigned char *)malloc(bytes);
  cudaMemcpy(p, dev, bytes, cudaMemcpyDeviceToHost);
  uint64_t h = 1469598103934665603ull;
  for (size_t i = 0; i < bytes; ++i) h = (h ^ p[i]) * 1099511628211ull;
  printf("%s %016llx\n", name, (unsigned long long)h);
  free(p);
}

__global__ void dotPartialLab(const float *x, const float *y, float *part, int n) {
  __shared__ float cache[BLOCK_SIZE];
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  int cacheIndex = threadIdx.x;
  float temp = 0;
  while (tid < n) {
    temp += x[tid] * y[tid];
    tid += blockDim.x * gridDim.x;
  }
  cache[cacheIndex] = temp;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
    __syncthreads();
    i /= 2;
  }
  if (cacheIndex == 0) part[blockIdx.x] = cache[0];
}

__global__ void argMinLab(const float *v, float *minVal, int *minIdx, int n) {
  __shared__ float sVal[BLOCK_SIZE];
  __shared__ int sIdx[BLOCK_SIZE];
  unsigned int t = threadIdx.x;
  unsigned int g = blockIdx.x * (BLOCK_SIZE * 2) + t;
  float a = FLT_MAX;
  int ia = -1;
  if (g < n) { a = v[g]; ia = g; }
  if (g + BLOCK_SIZE < n && v[g + BLOCK_SIZE] < a) { a = v[g + BLOCK_SIZE]; ia = g + BLOCK_SIZE; }
  sVal[t] = a;
  sIdx[t] = ia;
  __syncthreads();
  for (unsigned int s = BLOCK_SIZE / 2; s > 0; s >>= 1) {
    if (t < s) {
      if (sVal[t + s] < sVal[t]) {
        sVal[t] = sVal[t + s];
        sIdx[t] = sIdx[t + s];
      }
    }
    __syncthreads();
  }
  if (t == 0) {
    minVal[blockIdx.x] = sVal[0];
    minIdx[blockIdx.x] = sIdx[0];
  }
}

// column sums of a row major matrix: blockDim = (32, 8)
__global__ void colSumLab(const float *m, float *out, int rows, int cols) {
  __shared__ float buf[8][32];
  const int c = blockIdx.x * 32 + threadIdx.x;
  const int r0 = blockIdx.y * 64;
  float acc = 0.f;
  if (c < cols)
    for (int r = r0 + threadIdx.y; r < r0 + 64 && r < rows; r += 8) acc += m[r * cols + c];
  buf[threadIdx.y][threadIdx.x] = acc;
  __syncthreads();
  for (int s = 4; s >= 1; s /= 2) {
    if (threadIdx.y < s) buf[threadIdx.y][threadIdx.x] += buf[threadIdx.y + s][threadIdx.x];
    __syncthreads();
  }
  if (threadIdx.y == 0 && c < cols) out[blockIdx.y * cols + c] = buf[0][threadIdx.x];
}

int main() {
  const int n = 10000003;
  float *x = mk<float>(n), *y = mk<float>(n);
  float *part, *mv, *cs;
  int *mi;
  const int nb = 1024, nb2 = (n + 511) / 512;
  cudaMalloc(&part, nb * 4);
  cudaMalloc(&mv, nb2 * 4);
  cudaMalloc(&mi, nb2 * 4);
  dotPartialLab<<<nb, BLOCK_SIZE>>>(x, y, part, n);
  argMinLab<<<nb2, BLOCK_SIZE>>>(x, mv, mi, n);
  const int rows = 3000, cols = 2500, gy = (rows + 63) / 64;
  cudaMalloc(&cs, gy * cols * 4);
  colSumLab<<<dim3((cols + 31) / 32, gy), dim3(32, 8)>>>(y, cs, rows, cols);
  cudaDeviceSynchronize();
  show("dot", part, nb * 4);
  show("minval", mv, nb2 * 4);
  show("minidx", mi, nb2 * 4);
  show("colsum", cs, gy * cols * 4);
  return 0;
}
