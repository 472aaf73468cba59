// reductions, in the many ways people write them
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <cfloat>
#include <cuda_runtime.h>
#define CUDA(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { fprintf(stderr, "CUDA %s (%d)\n", cudaGetErrorString(e_), __LINE__); exit(2); } } while (0)

/* dot product from the CUDA by Example book */
const int threadsPerBlock = 256;
__global__ void dot_by_example(const float *a, const float *b, float *c, int N) {
  __shared__ float cache[threadsPerBlock];
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  int cacheIndex = threadIdx.x;
  float temp = 0;
  while (tid < N) {
    temp += a[tid] * b[tid];
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
  if (cacheIndex == 0) c[blockIdx.x] = cache[0];
}

/* column means and deviations, 32x8 threads on 32 columns */
__global__ void column_stats(const float *data, float *mean, float *var, int rows, int cols) {
  __shared__ float ssum[8][32], ssq[8][32];
  int c = blockIdx.x * 32 + threadIdx.x;
  float s = 0.f, q = 0.f;
  if (c < cols)
    for (int r = threadIdx.y; r < rows; r += 8) {
      float v = data[(size_t)r * cols + c];
      s += v;
      q += v * v;
    }
  ssum[threadIdx.y][threadIdx.x] = s;
  ssq[threadIdx.y][threadIdx.x] = q;
  __syncthreads();
  if (threadIdx.y == 0 && c < cols) {
    for (int k = 1; k < 8; k++) {
      s += ssum[k][threadIdx.x];
      q += ssq[k][threadIdx.x];
    }
    float mu = s / rows;
    mean[c] = mu;
    var[c] = q / rows - mu * mu;
  }
}

template <class T> T *alloc(size_t n, unsigned mul, T scale) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  for (size_t i = 0; i < n; ++i) h[i] = (T)((i * mul) % 1021) * scale;
  CUDA(cudaMalloc(&d, n * sizeof(T)));
  CUDA(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main() {
  const int N = 1 << 25;
  int *ii = alloc<int>(1 << 24, 71, 1), *oo = alloc<int>(1 << 17, 1, 0);
  unsigned ni = (1 << 24) - 100;
  float *f = alloc<float>(N, 37, 0.01f), *g = alloc<float>(N, 53, 0.02f), *o = alloc<float>(N, 1, 0.f);
  dot_by_example<<<64, threadsPerBlock>>>(f, g, o, 33 * 100000);
  double *dv = alloc<double>(3000001, 97, 1.0), *dov = alloc<double>(256, 1, 0.0);
  CUDA(cudaGetLastError());
  int cols = 1000, rows = 16384;
  column_stats<<<(500 + 31) / 32, dim3(32, 8)>>>(f, o, g, 20000, 500);
  CUDA(cudaGetLastError());
  CUDA(cudaDeviceSynchronize());
  return 0;
}
