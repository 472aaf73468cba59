// neural network layers
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <random>
#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define CUDA_CHECK(condition)                                             \
  do {                                                                    \
    cudaError_t error = condition;                                        \
    if (error != cudaSuccess) {                                           \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

// 3x3 stride 1 max pool, one 16x16 output tile per block, channel in z
__global__ void maxpool3x3s1(const float *bottom, float *top, int H, int W) {
  __shared__ float t[18][18];
  const float *in = bottom + (size_t)blockIdx.z * H * W;
  for (int y = threadIdx.y; y < 18; y += 16)
    for (int x = threadIdx.x; x < 18; x += 16) {
      int gy = blockIdx.y * 16 + y - 1, gx = blockIdx.x * 16 + x - 1;
      t[y][x] = (gy < 0 || gx < 0 || gy >= H || gx >= W) ? -INFINITY : in[gy * W + gx];
    }
  __syncthreads();
  int oy = blockIdx.y * 16 + threadIdx.y, ox = blockIdx.x * 16 + threadIdx.x;
  if (oy < H && ox < W) {
    float m = -INFINITY;
    for (int y = 0; y < 3; y++)
      for (int x = 0; x < 3; x++) m = fmaxf(m, t[threadIdx.y + y][threadIdx.x + x]);
    top[((size_t)blockIdx.z * H + oy) * W + ox] = m;
  }
}

// batch norm statistics: block per channel over N x HW
template <int BLOCK> __global__ void batchnorm_stats(const float *x, float *mean, float *invstd, int N, int C, int HW, float eps) {
  __shared__ float s1[BLOCK];
  __shared__ float s2[BLOCK];
  int c = blockIdx.x;
  float a = 0.f, b = 0.f;
  for (int n = 0; n < N; n++) {
    const float *p = x + ((size_t)n * C + c) * HW;
    for (int i = threadIdx.x; i < HW; i += BLOCK) {
      float v = p[i];
      a += v;
      b += v * v;
    }
  }
  s1[threadIdx.x] = a;
  s2[threadIdx.x] = b;
  __syncthreads();
#pragma unroll
  for (int k = BLOCK / 2; k > 0; k >>= 1) {
    if (threadIdx.x < k) {
      s1[threadIdx.x] += s1[threadIdx.x + k];
      s2[threadIdx.x] += s2[threadIdx.x + k];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    float mu = s1[0] / (N * HW);
    mean[c] = mu;
    invstd[c] = rsqrtf(s2[0] / (N * HW) - mu * mu + eps);
  }
}

#define Br 32
#define HD 32
#define DW_K 5
#define T 16
float *tensor(size_t n, int seed) {
  float *h = new float[n], *d;
  std::minstd_rand g(seed);
  for (size_t i = 0; i < n; i++) h[i] = (float)(g() % 2001) * 0.001f - 1.f;
  CUDA_CHECK(cudaMalloc(&d, n * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice));
  delete[] h;
  return d;
}
int main() {
  int N = 8, C = 64, H = 113, W = 113;
  size_t sz = (size_t)N * C * H * W;
  float *x = tensor(sz, 1), *y = tensor(sz, 2), *st = tensor(2 * C, 3), *w = tensor(128 * 64 * 9, 4);
  maxpool3x3s1<<<dim3((W + 15) / 16, (H + 15) / 16, N * C), dim3(16, 16)>>>(x, y, H, W);
  batchnorm_stats<512><<<C, 512>>>(x, st, st + C, N, C, H * W, 1e-5f);
  int h2 = 58, cin = 64, cout = 100;
  CUDA_CHECK(cudaGetLastError());
  int bags = 10000, vocab = 50000, dim = 64;
  int *hi = new int[bags * 90], *ho = new int[bags + 1], tot = 0;
  std::minstd_rand g(5);
  for (int b = 0; b < bags; b++) {
    ho[b] = tot;
    int len = g() % 90;
    for (int k = 0; k < len; k++) hi[tot++] = g() % vocab;
  }
  ho[bags] = tot;
  int *di, *dofs;
  CUDA_CHECK(cudaMalloc(&di, tot * sizeof(int)));
  CUDA_CHECK(cudaMalloc(&dofs, (bags + 1) * sizeof(int)));
  CUDA_CHECK(cudaMemcpy(di, hi, tot * sizeof(int), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(dofs, ho, (bags + 1) * sizeof(int), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaGetLastError());
  int L = 1024, heads = 48;
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}
