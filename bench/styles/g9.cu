// small dense and banded linear algebra in shared memory or private arrays
#include "shown.h"
#include <math.h>

// batched Cholesky of 32x32, one block per matrix
__global__ void cholesky32(double *A) {
  __shared__ double s[32][33];
  const int t = threadIdx.x;
  double *a = A + (size_t)blockIdx.x * 1024;
  for (int i = 0; i < 32; ++i) {
    double v = a[i * 32 + t];
    s[i][t] = i == t ? v + 500.0 : v;
  }
  __syncthreads();
  for (int k = 0; k < 32; ++k) {
    if (t == k) s[k][k] = sqrt(s[k][k]);
    __syncthreads();
    if (t > k) s[t][k] /= s[k][k];
    __syncthreads();
    if (t > k)
      for (int j = k + 1; j <= t; ++j) s[t][j] -= s[t][k] * s[j][k];
    __syncthreads();
  }
  for (int i = 0; i < 32; ++i) a[i * 32 + t] = t <= i ? s[i][t] : 0.0;
}

template <int N>
__global__ void lu_nopivot(float *M, int batch) {
  __shared__ float s[N][N];
  const int c = threadIdx.x, r = threadIdx.y;
  float *m = M + (size_t)blockIdx.x * N * N;
  s[r][c] = m[r * N + c] + (r == c ? 300.f : 0.f);
  __syncthreads();
  for (int k = 0; k < N - 1; ++k) {
    if (r > k && c == k) s[r][k] /= s[k][k];
    __syncthreads();
    if (r > k && c > k) s[r][c] -= s[r][k] * s[k][c];
    __syncthreads();
  }
  m[r * N + c] = s[r][c];
}

// parallel cyclic reduction, one system of 256 unknowns per block
#define SYS 256
__global__ void pcr_solve(const float *d_a, const float *d_b, const float *d_c, const float *d_d, float *d_x) {
  __shared__ float a[SYS], b[SYS], c[SYS], d[SYS];
  const int t = threadIdx.x;
  const size_t g = (size_t)blockIdx.x * SYS + t;
  a[t] = t == 0 ? 0.f : d_a[g];
  b[t] = d_b[g] + 40.f;
  c[t] = t == SYS - 1 ? 0.f : d_c[g];
  d[t] = d_d[g];
  __syncthreads();
  for (int delta = 1; delta < SYS; delta *= 2) {
    int i = t - delta, j = t + delta;
    float an = 0.f, bn = b[t], cn = 0.f, dn = d[t];
    if (i >= 0) {
      float k1 = a[t] / b[i];
      an = -a[i] * k1;
      bn -= c[i] * k1;
      dn -= d[i] * k1;
    }
    if (j < SYS) {
      float k2 = c[t] / b[j];
      cn = -c[j] * k2;
      bn -= a[j] * k2;
      dn -= d[j] * k2;
    }
    __syncthreads();
    a[t] = an;
    b[t] = bn;
    c[t] = cn;
    d[t] = dn;
    __syncthreads();
  }
  d_x[g] = d[t] / b[t];
}

// Thomas algorithm, interleaved systems, private work arrays
#define NU 48
__global__ void thomas_interleaved(const double *a, const double *b, const double *c, double *d, int nsys) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= nsys) return;
  double cs[NU], ds[NU];
  double bb = b[s] + 40.0;
  cs[0] = c[s] / bb;
  ds[0] = d[s] / bb;
  for (int i = 1; i < NU; ++i) {
    size_t k = (size_t)i * nsys + s;
    double m = 1.0 / (b[k] + 40.0 - a[k] * cs[i - 1]);
    cs[i] = c[k] * m;
    ds[i] = (d[k] - a[k] * ds[i - 1]) * m;
  }
  double x = ds[NU - 1];
  d[(size_t)(NU - 1) * nsys + s] = x;
  for (int i = NU - 2; i >= 0; --i) {
    x = ds[i] - cs[i] * x;
    d[(size_t)i * nsys + s] = x;
  }
}

// 6x6 solve with partial pivoting, one system per thread
__global__ void solve6_pivot(const float *A, const float *rhs, float *X, int n) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= n) return;
  float m[6][7];
  int perm[6];
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) m[i][j] = A[(size_t)(i * 6 + j) * n + s] + (i == j ? 15.f : 0.f);
    m[i][6] = rhs[(size_t)i * n + s];
    perm[i] = i;
  }
  for (int k = 0; k < 6; ++k) {
    int p = k;
    for (int i = k + 1; i < 6; ++i)
      if (fabsf(m[perm[i]][k]) > fabsf(m[perm[p]][k])) p = i;
    int t = perm[k];
    perm[k] = perm[p];
    perm[p] = t;
    float piv = m[perm[k]][k];
    if (fabsf(piv) < 1e-3f) piv = 1e-3f;
    for (int i = k + 1; i < 6; ++i) {
      float f = m[perm[i]][k] / piv;
      for (int j = k; j < 7; ++j) m[perm[i]][j] -= f * m[perm[k]][j];
    }
  }
  float x[6];
  for (int k = 5; k >= 0; --k) {
    float v = m[perm[k]][6];
    for (int j = k + 1; j < 6; ++j) v -= m[perm[k]][j] * x[j];
    float piv = m[perm[k]][k];
    if (fabsf(piv) < 1e-3f) piv = 1e-3f;
    x[k] = v / piv;
  }
  for (int k = 0; k < 6; ++k) X[(size_t)k * n + s] = x[k];
}

// forward substitution with a 64x64 lower triangle, multiple right-hand sides per block
#define TRI 64
__global__ void trsm_lower(const float *L, float *B, int ldb) {
  __shared__ float Ls[TRI][TRI + 1];
  __shared__ float bs[TRI];
  const int t = threadIdx.x;
  for (int i = 0; i < TRI; ++i) Ls[i][t] = L[i * TRI + t] * 0.01f;
  float x = B[(size_t)t * ldb + blockIdx.x];
  __syncthreads();
  for (int k = 0; k < TRI; ++k) {
    if (t == k) bs[k] = x / (1.0f + Ls[k][k]);
    __syncthreads();
    if (t > k) x -= Ls[t][k] * bs[k];
  }
  B[(size_t)t * ldb + blockIdx.x] = bs[t];
}

// power iteration with a 32x32 matrix per block of 32 x 8 threads
__global__ void power_iter(const float *A, float *lambda, int iters) {
  __shared__ float M[32][33];
  __shared__ float v[32], part[8][32], nrm;
  const int tx = threadIdx.x, ty = threadIdx.y;
  for (int r = ty; r < 32; r += 8) M[r][tx] = A[(size_t)blockIdx.x * 1024 + r * 32 + tx];
  if (ty == 0) v[tx] = 1.0f;
  __syncthreads();
  for (int it = 0; it < iters; ++it) {
    float p = 0.f;
    for (int k = ty * 4; k < ty * 4 + 4; ++k) p += M[tx][k] * v[k];
    part[ty][tx] = p;
    __syncthreads();
    if (ty == 0) {
      float s = 0.f;
      for (int q = 0; q < 8; ++q) s += part[q][tx];
      v[tx] = s;
    }
    __syncthreads();
    if (tx == 0 && ty == 0) {
      float m = 1e-20f;
      for (int q = 0; q < 32; ++q) m = fmaxf(m, fabsf(v[q]));
      nrm = m;
    }
    __syncthreads();
    if (ty == 0) v[tx] /= nrm;
    __syncthreads();
  }
  if (tx == 0 && ty == 0) lambda[blockIdx.x] = nrm;
}

int main() {
  {
    const int b = 4096;
    double *A = mk<double>((size_t)b * 1024);
    cholesky32<<<b, 32>>>(A);
    show("cholesky32", A, (size_t)b * 1024 * 8);
  }
  {
    const int b = 16384;
    float *A = mk<float>((size_t)b * 256);
    lu_nopivot<16><<<b, dim3(16, 16)>>>(A, b);
    show("lu_nopivot", A, (size_t)b * 1024);
  }
  {
    const int ns = 8192;
    size_t n = (size_t)ns * SYS;
    float *a = mk<float>(n), *b = mk<float>(n), *c = mk<float>(n), *d = mk<float>(n), *x = mk<float>(n);
    pcr_solve<<<ns, SYS>>>(a, b, c, d, x);
    show("pcr_solve", x, n * 4);
  }
  {
    const int ns = 1 << 16;
    size_t n = (size_t)ns * NU;
    double *a = mk<double>(n), *b = mk<double>(n), *c = mk<double>(n), *d = mk<double>(n);
    thomas_interleaved<<<(ns + 127) / 128, 128>>>(a, b, c, d, ns);
    show("thomas_interleaved", d, n * 8);
  }
  {
    const int n = 1 << 18;
    float *A = mk<float>((size_t)n * 36), *r = mk<float>((size_t)n * 6), *x = mk<float>((size_t)n * 6);
    solve6_pivot<<<(n + 127) / 128, 128>>>(A, r, x, n);
    show("solve6_pivot", x, (size_t)n * 24);
  }
  {
    const int nrhs = 16384;
    float *L = mk<float>(TRI * TRI), *B = mk<float>((size_t)TRI * nrhs);
    trsm_lower<<<nrhs, TRI>>>(L, B, nrhs);
    show("trsm_lower", B, (size_t)TRI * nrhs * 4);
  }
  {
    const int b = 8192;
    float *A = mk<float>((size_t)b * 1024), *l = mk<float>(b);
    power_iter<<<b, dim3(32, 8)>>>(A, l, 12);
    show("power_iter", l, b * 4);
  }
  return 0;
}
