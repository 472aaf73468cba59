// y = A x with pieces of x in shared memory, and Floyd-Warshall's last phase (min-plus product of tiles).
#include "bench.h"

template <typename T, int B> __global__ void gemvColMajor(const T *A, const T *x, T *y, int m, int n) {
  __shared__ T xs[B];
  int row = blockIdx.x * B + threadIdx.x;
  T acc = 0;
  for (int c0 = 0; c0 < n; c0 += B) {
    xs[threadIdx.x] = c0 + threadIdx.x < n ? x[c0 + threadIdx.x] : T(0);
    __syncthreads();
    int last = n - c0 < B ? n - c0 : B;
    if (row < m)
      for (int j = 0; j < last; ++j)
        acc += A[(size_t)(c0 + j) * m + row] * xs[j];
    __syncthreads();
  }
  if (row < m)
    y[row] = acc;
}

#define BS 32
__global__ void floydPhase3(const int *__restrict__ rowBand, const int *__restrict__ colBand, int *__restrict__ dist, int n) {
  __shared__ int primaryRow[BS][BS], primaryCol[BS][BS];
  const int x = blockIdx.x * BS + threadIdx.x, y = blockIdx.y * BS + threadIdx.y;
  primaryRow[threadIdx.y][threadIdx.x] = rowBand[threadIdx.y * n + x];
  primaryCol[threadIdx.y][threadIdx.x] = colBand[y * BS + threadIdx.x];
  __syncthreads();
  int d = dist[(size_t)y * n + x];
#pragma unroll
  for (int k = 0; k < BS; ++k) {
    int alt = primaryCol[threadIdx.y][k] + primaryRow[k][threadIdx.x];
    if (alt < d)
      d = alt;
  }
  dist[(size_t)y * n + x] = d;
}

int main() {
  {
    const int m = 40000, n = 1000;
    float *A = toDevice(randomFloats((size_t)m * n, 431, -1, 1)), *x = toDevice(randomFloats(n, 432));
    float *y = deviceAlloc<float>(m);
    printTime("gemvColMajor", timeMin([&] { gemvColMajor<float, 128><<<(m + 127) / 128, 128>>>(A, x, y, m, n); }));
    printHash("gemvColMajor", y, m);
  }
  {
    const int n = 4096;
    std::vector<int> h = randomInts<int>((size_t)n * n, 433, 10000);
    int *dist = toDevice(h);
    int *rowBand = toDevice(randomInts<int>((size_t)n * BS, 434, 6000)), *colBand = toDevice(randomInts<int>((size_t)n * BS, 435, 6000));
    dim3 grid(n / BS, n / BS), block(BS, BS);
    float ms = timeMin([&] { floydPhase3<<<grid, block>>>(rowBand, colBand, dist, n); });
    CUDA_CHECK(cudaMemcpy(dist, h.data(), h.size() * sizeof(int), cudaMemcpyHostToDevice));
    floydPhase3<<<grid, block>>>(rowBand, colBand, dist, n);
    printTime("floydPhase3", ms);
    printHash("floydPhase3", dist, h.size());
  }
}
