// Largest element of each row and where it is.
#include "bench.h"

#define THREADS 256

__global__ void rowArgMax(const float *m, int *index, float *value, int cols) {
  __shared__ float best[THREADS];
  __shared__ int where[THREADS];
  const int row = blockIdx.x;
  const int tid = threadIdx.x;
  float b = -1e30f;
  int w = -1;
  for (int c = tid; c < cols; c += THREADS) {
    float v = m[(size_t)row * cols + c];
    if (v > b) {
      b = v;
      w = c;
    }
  }
  best[tid] = b;
  where[tid] = w;
  __syncthreads();
  for (int s = THREADS / 2; s >= 1; s = s / 2) {
    if (tid < s) {
      if (best[tid + s] > best[tid] || (best[tid + s] == best[tid] && where[tid + s] < where[tid])) {
        best[tid] = best[tid + s];
        where[tid] = where[tid + s];
      }
    }
    __syncthreads();
  }
  if (tid == 0) {
    index[row] = where[0];
    value[row] = best[0];
  }
}

int main() {
  const int rows = 40000, cols = 1000;
  float *m = toDevice(randomFloats((size_t)rows * cols, 71));
  int *index = deviceAlloc<int>(rows);
  float *value = deviceAlloc<float>(rows);
  printTime("rowArgMax", timeMin([&] { rowArgMax<<<rows, THREADS>>>(m, index, value, cols); }));
  std::vector<int> hi(rows);
  printHash("rowArgMax", index, rows);
}
