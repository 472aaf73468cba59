// clustering & neighbour search
#include "h.h"
#include <cstdint>
#include <cfloat>

enum { T_SIDE = 16, KM_K = 64, KM_D = 8 };

// D[i][j] = |p_i - q_j|^2, points stored dimension-last, any dim
__global__ void pairwise_sqdist(const float *P, const float *Q, float *D, size_t np, size_t nq, int dim)
{
  __shared__ float tp[T_SIDE * T_SIDE];
  __shared__ float tq[T_SIDE * T_SIDE];
  size_t i = (size_t)blockIdx.y * T_SIDE + threadIdx.y;
  size_t j = (size_t)blockIdx.x * T_SIDE + threadIdx.x;
  size_t jl = (size_t)blockIdx.x * T_SIDE + threadIdx.y;
  const int me = threadIdx.y * T_SIDE + threadIdx.x;
  float s = 0;
  for (int d0 = 0; d0 < dim; d0 += T_SIDE)
  {
    int d = d0 + threadIdx.x;
    tp[me] = (i < np && d < dim) ? P[i * dim + d] : 0.f;
    tq[me] = (jl < nq && d < dim) ? Q[jl * dim + d] : 0.f;
    __syncthreads();
    for (int k = 0; k < T_SIDE; k++)
    {
      float df = tp[threadIdx.y * T_SIDE + k] - tq[threadIdx.x * T_SIDE + k];
      s += df * df;
    }
    __syncthreads();
  }
  if (i < np && j < nq)
    D[i * nq + j] = s;
}

// nearest centroid; centroids staged once
__global__ void kmeans_assign(const float *pts, const float *cent, int *label, float *dmin, int n)
{
  __shared__ float c[KM_K * KM_D];
  for (int t = threadIdx.x; t < KM_K * KM_D; t += blockDim.x)
    c[t] = cent[t];
  __syncthreads();
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n)
    return;
  float x[KM_D];
#pragma unroll
  for (int d = 0; d < KM_D; d++)
    x[d] = pts[d * n + p];
  float best = FLT_MAX;
  int bi = 0;
  for (int k = 0; k < KM_K; k++)
  {
    float s = 0;
#pragma unroll
    for (int d = 0; d < KM_D; d++)
    {
      float e = x[d] - c[k * KM_D + d];
      s += e * e;
    }
    if (s < best)
    {
      best = s;
      bi = k;
    }
  }
  label[p] = bi;
  dmin[p] = best;
}

// mean of the points of one block, per dimension: blockDim (8, 32)
__global__ void chunk_means(const float *pts, float *means, int n, int chunk)
{
  __shared__ float acc[32][KM_D];
  const int d = threadIdx.x;
  float s = 0.f;
  int lo = blockIdx.x * chunk, hi = min(lo + chunk, n);
  for (int p = lo + threadIdx.y; p < hi; p += 32)
    s += pts[p * KM_D + d];
  acc[threadIdx.y][d] = s;
  __syncthreads();
  for (int h = 16; h > 0; h >>= 1)
  {
    if (threadIdx.y < h)
      acc[threadIdx.y][d] += acc[threadIdx.y + h][d];
    __syncthreads();
  }
  if (threadIdx.y == 0)
    means[blockIdx.x * KM_D + d] = acc[0][d] / (hi - lo);
}

static void out(const char *nm, const void *p, size_t b)
{
  unsigned char *q = (unsigned char *)malloc(b);
  cudaMemcpy(q, p, b, cudaMemcpyDeviceToHost);
  uint64_t h = 14695981039346656037ull;
  for (size_t i = 0; i < b; i++)
    h = (h ^ q[i]) * 1099511628211ull;
  printf("%s\t%016lx\n", nm, h);
  free(q);
}

int main()
{
  const size_t np = 2000, nq = 3001;
  const int dim = 50;
  float *P = mk<float>(np * dim), *Q = mk<float>(nq * dim), *D;
  cudaMalloc(&D, np * nq * 4);
  pairwise_sqdist<<<dim3((nq + 15) / 16, (np + 15) / 16), dim3(16, 16)>>>(P, Q, D, np, nq, dim);
  const int n = 1000000;
  float *pts = mk<float>((size_t)n * KM_D), *cent = mk<float>(KM_K * KM_D), *dm, *mean;
  int *lb;
  cudaMalloc(&lb, n * 4);
  cudaMalloc(&dm, n * 4);
  kmeans_assign<<<(n + 255) / 256, 256>>>(pts, cent, lb, dm, n);
  const int chunk = 500, nc = (n + chunk - 1) / chunk;
  cudaMalloc(&mean, nc * KM_D * 4);
  chunk_means<<<nc, dim3(KM_D, 32)>>>(pts, mean, n, chunk);
  cudaDeviceSynchronize();
  out("dist", D, np * nq * 4);
  out("label", lb, n * 4);
  out("dmin", dm, n * 4);
  out("means", mean, nc * KM_D * 4);
  return 0;
}
