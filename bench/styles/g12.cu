// clustering and classical machine learning
#include "shown.h"
#include <math.h>
#include <float.h>

#define NFEAT 16
#define NCLUST 32
__global__ void kmeans_assign(const float *__restrict__ feat, const float *__restrict__ cent, int *__restrict__ member, int npoints) {
  __shared__ float c[NCLUST * NFEAT];
  for (int i = threadIdx.x; i < NCLUST * NFEAT; i += blockDim.x) c[i] = cent[i];
  __syncthreads();
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= npoints) return;
  float x[NFEAT];
  for (int f = 0; f < NFEAT; f++) x[f] = feat[(size_t)f * npoints + p];
  float best = FLT_MAX;
  int bi = -1;
  for (int k = 0; k < NCLUST; k++) {
    float d = 0.f;
    for (int f = 0; f < NFEAT; f++) d += (x[f] - c[k * NFEAT + f]) * (x[f] - c[k * NFEAT + f]);
    if (d < best) {
      best = d;
      bi = k;
    }
  }
  member[p] = bi;
}

// squared distances between two point sets, row-major, DIM features, 16x16 tiles
__global__ void pairwise_dist(const float *X, const float *Y, float *D, int nx, int ny, int dim) {
  __shared__ float xs[16][16];
  __shared__ float ys[16][16];
  int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  int jr = blockIdx.x * 16 + threadIdx.y;
  float acc = 0;
  for (int k = 0; k < dim; k += 16) {
    xs[threadIdx.y][threadIdx.x] = (i < nx && k + threadIdx.x < dim) ? X[(size_t)i * dim + k + threadIdx.x] : 0.f;
    ys[threadIdx.x][threadIdx.y] = (jr < ny && k + threadIdx.x < dim) ? Y[(size_t)jr * dim + k + threadIdx.x] : 0.f;
    __syncthreads();
    for (int q = 0; q < 16; ++q) {
      float t = xs[threadIdx.y][q] - ys[q][threadIdx.x];
      acc += t * t;
    }
    __syncthreads();
  }
  if (i < nx && j < ny) D[(size_t)i * ny + j] = acc;
}

// k nearest, reference points staged in tiles, best list per thread
#define KNN 8
__global__ void knn_bruteforce(const float2 *q, const float2 *ref, float *kd, int *ki, int nq, int nref) {
  __shared__ float2 tile[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  float2 me = i < nq ? q[i] : make_float2(0.f, 0.f);
  float bd[KNN];
  int bi[KNN];
  for (int k = 0; k < KNN; ++k) {
    bd[k] = 1e30f;
    bi[k] = -1;
  }
  for (int t0 = 0; t0 < nref; t0 += 256) {
    if (t0 + threadIdx.x < nref) tile[threadIdx.x] = ref[t0 + threadIdx.x];
    __syncthreads();
    int lim = min(256, nref - t0);
    for (int j = 0; j < lim; ++j) {
      float dx = tile[j].x - me.x * 1.013f, dy = tile[j].y - me.y * 0.987f;
      float d = dx * dx + dy * dy;
      if (d < bd[KNN - 1]) {
        int k = KNN - 1;
        while (k > 0 && bd[k - 1] > d) {
          bd[k] = bd[k - 1];
          bi[k] = bi[k - 1];
          --k;
        }
        bd[k] = d;
        bi[k] = t0 + j;
      }
    }
    __syncthreads();
  }
  if (i < nq)
    for (int k = 0; k < KNN; ++k) {
      kd[(size_t)k * nq + i] = bd[k];
      ki[(size_t)k * nq + i] = bi[k];
    }
}

// Gaussian kernel matrix, whole feature rows in extern shared
template <typename real>
__global__ void rbf_gram(const real *X, real *K, int n, int dim, real gamma) {
  extern __shared__ unsigned char raw[];
  real *a = reinterpret_cast<real *>(raw);
  real *b = a + 16 * dim;
  int tid = threadIdx.y * 16 + threadIdx.x;
  for (int e = tid; e < 16 * dim; e += 256) {
    a[e] = X[(size_t)blockIdx.y * 16 * dim + e];
    b[e] = X[(size_t)blockIdx.x * 16 * dim + e];
  }
  __syncthreads();
  real s = 0;
  for (int f = 0; f < dim; ++f) {
    real d = a[threadIdx.y * dim + f] - b[threadIdx.x * dim + f];
    s += d * d;
  }
  K[(size_t)(blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x] = exp(-gamma * s);
}

// joint class/feature histogram
__global__ void bayes_counts(const int *cls, const int *feat, int *counts, int n) {
  __shared__ int h[16 * 16];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) h[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&h[(cls[i] & 15) * 16 + (feat[i] & 15)], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&counts[i], h[i]);
}

// decision tree in shared memory, complete tree of depth 7
struct Node { int feat; float thr; };
__global__ void tree_predict(const Node *tree, const float *x, int *leaf, int n, int nfeat) {
  __shared__ Node t[128];
  if (threadIdx.x < 128) t[threadIdx.x] = tree[threadIdx.x];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int k = 1;
  for (int d = 0; d < 7; ++d) {
    Node nd = t[k & 127];
    float v = x[(size_t)(((unsigned)nd.feat) % nfeat) * n + i];
    k = 2 * k + (v > nd.thr);
  }
  leaf[i] = k;
}

// one mean-shift step over a fixed-size window of sorted 1-D samples
#define MSR 32
__global__ void mean_shift_1d(const double *x, double *y, int n, double bw) {
  __shared__ double s[128 + 2 * MSR];
  const int g = blockIdx.x * 128 + threadIdx.x;
  s[MSR + threadIdx.x] = x[min(g, n - 1)];
  if (threadIdx.x < MSR) {
    s[threadIdx.x] = x[max(g - MSR, 0)];
    s[MSR + 128 + threadIdx.x] = x[min(g + 128, n - 1)];
  }
  __syncthreads();
  double c = s[MSR + threadIdx.x];
  double num = 0, den = 0;
  for (int k = -MSR; k <= MSR; ++k) {
    double v = s[MSR + threadIdx.x + k];
    double w = 1.0 - (v - c) * (v - c) / (bw * bw);
    if (w > 0) {
      num += w * v;
      den += w;
    }
  }
  if (g < n) y[g] = num / den;
}

int main() {
  {
    const int n = 1 << 20;
    float *f = mk<float>((size_t)n * NFEAT), *c = mk<float>(NCLUST * NFEAT);
    int *m = mk<int>(n);
    kmeans_assign<<<(n + 255) / 256, 256>>>(f, c, m, n);
    show("kmeans_assign", m, n * 4);
    Node ht[128];
    for (int i = 0; i < 128; ++i) {
      ht[i].feat = i * 5 % 16;
      ht[i].thr = (i * 37 % 100) * 0.12f;
    }
    Node *t;
    cudaMalloc(&t, sizeof(ht));
    cudaMemcpy(t, ht, sizeof(ht), cudaMemcpyHostToDevice);
    tree_predict<<<(n + 255) / 256, 256>>>(t, f, m, n, NFEAT);
    show("tree_predict", m, n * 4);
  }
  {
    const int nx = 2000, ny = 1900, dim = 200;
    float *x = mk<float>(nx * dim), *y = mk<float>(ny * dim + 64), *d = mk<float>((size_t)nx * ny);
    dim3 b(16, 16), g((ny + 15) / 16, (nx + 15) / 16);
    pairwise_dist<<<g, b>>>(x, y + 29, d, nx, ny, dim);
    show("pairwise_dist", d, (size_t)nx * ny * 4);
  }
  {
    const int nq = 1 << 17, nr = 1000;
    float *q = mk<float>(2 * nq), *r = mk<float>(2 * nr), *kd = mk<float>(nq * KNN);
    int *ki = mk<int>(nq * KNN);
    knn_bruteforce<<<(nq + 255) / 256, 256>>>((const float2 *)q, (const float2 *)r, kd, ki, nq, nr);
    show("knn_bruteforce.d", kd, (size_t)nq * KNN * 4);
    show("knn_bruteforce.i", ki, (size_t)nq * KNN * 4);
  }
  {
    const int n = 2048, dim = 64;
    float *x = mk<float>(n * dim), *k = mk<float>((size_t)n * n);
    rbf_gram<float><<<dim3(n / 16, n / 16), dim3(16, 16), 2 * 16 * dim * sizeof(float)>>>(x, k, n, dim, 0.0005f);
    show("rbf_gram", k, (size_t)n * n * 4);
  }
  {
    const int n = 1 << 23;
    int *c = mk<int>(n), *f = mk<int>(n + 8), *h = mk<int>(256);
    bayes_counts<<<512, 192>>>(c, f + 5, h, n);
    show("bayes_counts", h, 1024);
  }
  {
    const int n = 1 << 22;
    double *x = mk<double>(n), *y = mk<double>(n);
    mean_shift_1d<<<(n + 127) / 128, 128>>>(x, y, n, 4.0);
    show("mean_shift_1d", y, (size_t)n * 8);
  }
  return 0;
}
