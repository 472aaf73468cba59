// factorisations and small systems
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#define BS 16
#define CUCHECK(x) do { cudaError_t e = x; if (e != cudaSuccess) { printf("CUDA: %s line %d\n", cudaGetErrorString(e), __LINE__); exit(1); } } while (0)

// trailing update of a right-looking LU: A22 -= L21 * U12
__global__ void lu_trailing_update(float *m, int dim, int offset) {
  __shared__ float peri_row[BS][BS];
  __shared__ float peri_col[BS][BS];
  int grow = offset + (blockIdx.y + 1) * BS;
  int gcol = offset + (blockIdx.x + 1) * BS;
  peri_row[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * dim + gcol + threadIdx.x];
  peri_col[threadIdx.y][threadIdx.x] = m[(grow + threadIdx.y) * dim + offset + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < BS; i++) sum += peri_col[threadIdx.y][i] * peri_row[i][threadIdx.x];
  m[(grow + threadIdx.y) * dim + gcol + threadIdx.x] -= sum;
}

// batch of NxN Cholesky factorisations, one block (N threads) a matrix
template <int N>
__global__ void cholesky_small_batch(const double *A, double *L, int count) {
  __shared__ double s[N][N + 1];
  const double *a = A + (size_t)blockIdx.x * N * N;
  double *l = L + (size_t)blockIdx.x * N * N;
  int t = threadIdx.x;
  for (int r = 0; r < N; r++) s[r][t] = a[r * N + t];
  __syncthreads();
  for (int k = 0; k < N; k++) {
    if (t == k) s[k][k] = sqrt(s[k][k]);
    __syncthreads();
    if (t > k) s[t][k] /= s[k][k];
    __syncthreads();
    if (t > k)
      for (int j = k + 1; j <= t; j++) s[t][j] -= s[t][k] * s[j][k];
    __syncthreads();
  }
  for (int r = 0; r < N; r++) l[r * N + t] = t <= r ? s[r][t] : 0.0;
}

// parallel cyclic reduction, one system a block
__global__ void pcr_tridiag(const float *a, const float *b, const float *c, const float *d, float *x, int n) {
  extern __shared__ float shm[];
  float *sa = shm, *sb = shm + n, *sc = shm + 2 * n, *sd = shm + 3 * n;
  int i = threadIdx.x;
  size_t g = (size_t)blockIdx.x * n + i;
  sa[i] = a[g]; sb[i] = b[g]; sc[i] = c[g]; sd[i] = d[g];
  __syncthreads();
  for (int s = 1; s < n; s *= 2) {
    int lo = i - s, hi = i + s;
    float na = 0.f, nb = sb[i], nc = 0.f, nd = sd[i];
    if (lo >= 0) {
      float k1 = sa[i] / sb[lo];
      na = -sa[lo] * k1;
      nb -= sc[lo] * k1;
      nd -= sd[lo] * k1;
    }
    if (hi < n) {
      float k2 = sc[i] / sb[hi];
      nc = -sc[hi] * k2;
      nb -= sa[hi] * k2;
      nd -= sd[hi] * k2;
    }
    __syncthreads();
    sa[i] = na; sb[i] = nb; sc[i] = nc; sd[i] = nd;
    __syncthreads();
  }
  x[g] = sd[i] / sb[i];
}

// a 6x6 system with pivoting for each thread, everything in private arrays
#define SYS 6
__global__ void gauss_private(const float *A, const float *rhs, float *x, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= n) return;
  float m[SYS][SYS + 1];
  for (int r = 0; r < SYS; r++) {
    for (int c = 0; c < SYS; c++) m[r][c] = A[(size_t)(r * SYS + c) * n + id];
    m[r][SYS] = rhs[(size_t)r * n + id];
  }
  for (int k = 0; k < SYS; k++) {
    int piv = k;
    for (int r = k + 1; r < SYS; r++)
      if (fabsf(m[r][k]) > fabsf(m[piv][k])) piv = r;
    if (piv != k)
      for (int c = k; c <= SYS; c++) { float t = m[k][c]; m[k][c] = m[piv][c]; m[piv][c] = t; }
    float inv = 1.0f / m[k][k];
    for (int r = k + 1; r < SYS; r++) {
      float f = m[r][k] * inv;
      for (int c = k; c <= SYS; c++) m[r][c] -= f * m[k][c];
    }
  }
  for (int r = SYS - 1; r >= 0; r--) {
    float s = m[r][SYS];
    for (int c = r + 1; c < SYS; c++) s -= m[r][c] * x[(size_t)c * n + id];
    x[(size_t)r * n + id] = s / m[r][r];
  }
}

int main(int argc, char **argv) {
  int dim = argc > 1 ? atoi(argv[1]) : 4096;
  size_t elems = (size_t)dim * dim;
  float *h = (float *)malloc(elems * sizeof(float)), *dm;
  for (size_t i = 0; i < elems; i++) h[i] = i % (dim + 1) == 0 ? 50.f : (float)((i * 2654435761u >> 9) % 100) * 0.01f;
  CUCHECK(cudaMalloc(&dm, elems * sizeof(float)));
  CUCHECK(cudaMemcpy(dm, h, elems * sizeof(float), cudaMemcpyHostToDevice));
  for (int step = 0; step < 2; step++) {
    int rest = dim / BS - step - 1;
    lu_trailing_update<<<dim3(rest, rest), dim3(BS, BS)>>>(dm, dim, step * BS);
  }
  CUCHECK(cudaGetLastError());

  int count = 5000;
  const int N = 32;
  double *hA = (double *)malloc(sizeof(double) * count * N * N), *dA, *dL;
  for (int q = 0; q < count; q++)
    for (int r = 0; r < N; r++)
      for (int c = 0; c < N; c++) hA[(q * N + r) * N + c] = r == c ? N + q % 5 : 1.0 / (1 + abs(r - c));
  CUCHECK(cudaMalloc(&dA, sizeof(double) * count * N * N));
  CUCHECK(cudaMalloc(&dL, sizeof(double) * count * N * N));
  CUCHECK(cudaMemcpy(dA, hA, sizeof(double) * count * N * N, cudaMemcpyHostToDevice));
  cholesky_small_batch<32><<<count, N>>>(dA, dL, count);
  CUCHECK(cudaGetLastError());

  int sys = 256, systems = 8000;
  size_t tot = (size_t)sys * systems;
  float *ht = (float *)malloc(tot * sizeof(float)), *ta, *tb, *tc, *td, *tx;
  CUCHECK(cudaMalloc(&ta, tot * 4)); CUCHECK(cudaMalloc(&tb, tot * 4)); CUCHECK(cudaMalloc(&tc, tot * 4));
  CUCHECK(cudaMalloc(&td, tot * 4)); CUCHECK(cudaMalloc(&tx, tot * 4));
  for (size_t i = 0; i < tot; i++) ht[i] = i % sys == 0 ? 0.f : -1.f;
  CUCHECK(cudaMemcpy(ta, ht, tot * 4, cudaMemcpyHostToDevice));
  for (size_t i = 0; i < tot; i++) ht[i] = 2.5f + (i % 3);
  CUCHECK(cudaMemcpy(tb, ht, tot * 4, cudaMemcpyHostToDevice));
  for (size_t i = 0; i < tot; i++) ht[i] = i % sys == sys - 1 ? 0.f : -1.f;
  CUCHECK(cudaMemcpy(tc, ht, tot * 4, cudaMemcpyHostToDevice));
  for (size_t i = 0; i < tot; i++) ht[i] = (float)(i % 11);
  CUCHECK(cudaMemcpy(td, ht, tot * 4, cudaMemcpyHostToDevice));
  pcr_tridiag<<<systems, sys, 4 * sys * sizeof(float)>>>(ta, tb, tc, td, tx, sys);
  CUCHECK(cudaGetLastError());

  int n = 250000;
  gauss_private<<<(n + 127) / 128, 128>>>(dm, td, tx, n);
  CUCHECK(cudaGetLastError());
  CUCHECK(cudaDeviceSynchronize());
  cudaFree(dm); cudaFree(dA); cudaFree(dL); cudaFree(ta); cudaFree(tb); cudaFree(tc); cudaFree(td); cudaFree(tx);
  free(h); free(hA); free(ht);
  return 0;
}
