// Dot product with a grid-stride loop and a tree in each block (after "CUDA by Example"), and a block-wide broadcast.
#include "bench.h"

#define imin(a, b) ((a) < (b) ? (a) : (b))
const int threadsPerBlock = 256;

__global__ void dot(const double *a, const double *b, double *c, int N) {
  __shared__ double cache[threadsPerBlock];
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  int cacheIndex = threadIdx.x;
  double temp = 0;
  while (tid < N) {
    temp += a[tid] * b[tid];
    tid += blockDim.x * gridDim.x;
  }
  cache[cacheIndex] = temp;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (cacheIndex < i)
      cache[cacheIndex] += cache[cacheIndex + i];
    __syncthreads();
    i /= 2;
  }
  if (cacheIndex == 0)
    c[blockIdx.x] = cache[0];
}

// each block subtracts the pivot row's first element, which thread 0 fetches for all
__global__ void subtractFirst(const float *__restrict__ in, float *__restrict__ out, int cols) {
  __shared__ float first;
  const float *row = in + (size_t)blockIdx.x * cols;
  if (threadIdx.x == 0)
    first = row[0];
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[(size_t)blockIdx.x * cols + c] = row[c] - first;
}

int main() {
  const int N = 20 * 1000 * 1000;
  const int blocksPerGrid = imin(1056, (N + threadsPerBlock - 1) / threadsPerBlock);
  std::vector<double> h(N);
  Rng r(121);
  for (int i = 0; i < N; i++)
    h[i] = r.uniform() - 0.5;
  double *a = toDevice(h);
  for (int i = 0; i < N; i++)
    h[i] = h[i] * h[i];
  double *b = toDevice(h), *c = deviceAlloc<double>(blocksPerGrid);
  printTime("dot", timeMin([&] { dot<<<blocksPerGrid, threadsPerBlock>>>(a, b, c, N); }));
  printHash("dot", c, blocksPerGrid);

  const int rows = 30000, cols = 1000;
  float *in = toDevice(randomFloats((size_t)rows * cols, 122)), *out = deviceAlloc<float>((size_t)rows * cols);
  printTime("subtractFirst", timeMin([&] { subtractFirst<<<rows, 256>>>(in, out, cols); }));
  printHash("subtractFirst", out, (size_t)rows * cols);
}
