// Dense and structured linear algebra on tiles and on many small matrices.
#include <cmath>
#include "shown.h"

// -- 1. C = alpha A A^T + beta C, lower blocks only ------------------------------------
#define NB 16
__global__ void dsyrk_lower(const double *A, double *C, int n, int k, int lda, int ldc, double alpha, double beta) {
  const int bi = blockIdx.y, bj = blockIdx.x;
  if (bj > bi) return;
  __shared__ double Ai[NB][NB + 1];
  __shared__ double Aj[NB][NB + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = bi * NB + ty, col = bj * NB + tx;
  double acc = 0.0;
  for (int p = 0; p < k; p += NB) {
    Ai[ty][tx] = (row < n && p + tx < k) ? A[(size_t)row * lda + p + tx] : 0.0;
    Aj[ty][tx] = (bj * NB + ty < n && p + tx < k) ? A[(size_t)(bj * NB + ty) * lda + p + tx] : 0.0;
    __syncthreads();
#pragma unroll
    for (int q = 0; q < NB; q++) acc += Ai[ty][q] * Aj[tx][q];
    __syncthreads();
  }
  if (row < n && col <= row) C[(size_t)row * ldc + col] = alpha * acc + beta * C[(size_t)row * ldc + col];
}

// -- 2. batched triangular solve L X = B, 32 x 32 factors, a right side per thread --------
template <typename T>
__global__ void trsm32_batched(const T *__restrict__ Ls, T *__restrict__ Bs, int nrhs)
{
  __shared__ T L[32][32];
  __shared__ T rdiag[32];
  const T *Lg = Ls + (size_t)blockIdx.y * 1024;
  for (int e = threadIdx.x; e < 1024; e += blockDim.x) L[e >> 5][e & 31] = Lg[e];
  if (threadIdx.x < 32) rdiag[threadIdx.x] = T(1) / (Lg[threadIdx.x * 33] + T(30));
  __syncthreads();
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= nrhs) return;
  T *b = Bs + (size_t)blockIdx.y * 32 * nrhs + j;
  T x[32];
#pragma unroll
  for (int i = 0; i < 32; i++) {
    T s = b[(size_t)i * nrhs];
#pragma unroll
    for (int p = 0; p < i; p++) s -= L[i][p] * x[p];
    x[i] = s * rdiag[i];
  }
#pragma unroll
  for (int i = 0; i < 32; i++) b[(size_t)i * nrhs] = x[i];
}

// -- 3. Cholesky of many 24 x 24 matrices, a block each -------------------------------------
enum { CN = 24 };
__global__ void chol24(float *mats, int *info) {
  __shared__ float a[CN * CN];
  __shared__ int bad;
  float *g = mats + (size_t)blockIdx.x * CN * CN;
  const int i = threadIdx.x, j = threadIdx.y;     // 24 x 24 threads
  float v = 0.5f * (g[j * CN + i] + g[i * CN + j]);
  if (i == j) v += 200.f;
  a[j * CN + i] = v;
  if (i == 0 && j == 0) bad = 0;
  __syncthreads();
  for (int k = 0; k < CN; ++k) {
    if (i == k && j == k) {
      float d = a[k * CN + k];
      if (d <= 0.f) { bad = k + 1; d = 1.f; }
      a[k * CN + k] = sqrtf(d);
    }
    __syncthreads();
    if (i == k && j > k) a[j * CN + k] /= a[k * CN + k];
    __syncthreads();
    if (i > k && j >= i) a[j * CN + i] -= a[j * CN + k] * a[i * CN + k];
    __syncthreads();
  }
  g[j * CN + i] = j >= i ? a[j * CN + i] : 0.f;
  if (i == 0 && j == 0) info[blockIdx.x] = bad;
}

// -- 4. LU with partial pivoting of one small system a thread, rows swapped through an index --
template <int N>
__global__ void lu_pivot_thread(const float *__restrict__ As, const float *__restrict__ bs, float *__restrict__ xs, int count) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= count) return;
  float a[N][N + 1];
  int perm[N];
  for (int r = 0; r < N; r++) {
    perm[r] = r;
    for (int c = 0; c < N; c++) a[r][c] = As[(size_t)(r * N + c) * count + id] + (((r * 5 + c * 3) % 7) == 0 ? 9.f : 0.f);
    a[r][N] = bs[(size_t)r * count + id];
  }
  for (int k = 0; k < N; k++) {
    int piv = k;
    for (int r = k + 1; r < N; r++)
      if (fabsf(a[perm[r]][k]) > fabsf(a[perm[piv]][k])) piv = r;
    int t = perm[k]; perm[k] = perm[piv]; perm[piv] = t;
    float d = a[perm[k]][k];
    float inv = fabsf(d) > 1e-5f ? 1.f / d : 0.f;
    for (int r = k + 1; r < N; r++) {
      float f = a[perm[r]][k] * inv;
      for (int c = k; c <= N; c++) a[perm[r]][c] -= f * a[perm[k]][c];
    }
  }
  for (int k = N - 1; k >= 0; k--) {
    float s = a[perm[k]][N];
    for (int c = k + 1; c < N; c++) s -= a[perm[k]][c] * a[perm[c]][N];
    float d = a[perm[k]][k];
    s = fabsf(d) > 1e-5f ? s / d : 0.f;
    a[perm[k]][N] = s;
    xs[(size_t)k * count + id] = s;
  }
}

// -- 5. banded matrix times vector, diagonals stored by rows (DIA) ------------------------------
template <unsigned HB>
__global__ void dia_spmv(const double *band, const double *x, double *y, size_t n) {
  __shared__ double xs[256 + 2 * HB];
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  for (unsigned k = threadIdx.x; k < 256 + 2 * HB; k += 256) {
    size_t g = blockIdx.x * (size_t)256 + k;       // shifted by HB
    xs[k] = (g >= HB && g - HB < n) ? x[g - HB] : 0.0;
  }
  __syncthreads();
  if (i < n) {
    double s = 0.0;
    for (unsigned d = 0; d <= 2 * HB; ++d) s += band[d * n + i] * xs[threadIdx.x + d];
    y[i] = s;
  }
}

// -- 6. modified Gram-Schmidt of 64 x 12 panels, one block each ----------------------------------
#define PR 64
#define PC 12
__device__ float colDot(const float *u, const float *v, float *scratch, int t) {
  scratch[t] = u[t] * v[t];
  __syncthreads();
  for (int s = PR / 2; s > 0; s >>= 1) {
    if (t < s) scratch[t] += scratch[t + s];
    __syncthreads();
  }
  float r = scratch[0];
  __syncthreads();
  return r;
}
__global__ void mgs_panel(float *Q, float *R) {
  __shared__ float q[PC][PR];
  __shared__ float red[PR];
  int t = threadIdx.x;
  float *p = Q + (size_t)blockIdx.x * PR * PC;
  float *rr = R + (size_t)blockIdx.x * PC * PC;
  for (int c = 0; c < PC; c++) q[c][t] = p[c * PR + t] - 5.f + ((t + 3 * c) % 16 == 0 ? 11.f : 0.f);
  __syncthreads();
  for (int c = 0; c < PC; c++) {
    float nrm = sqrtf(colDot(q[c], q[c], red, t) + 1e-12f);
    q[c][t] /= nrm;
    if (t == 0) rr[c * PC + c] = nrm;
    for (int d = c + 1; d < PC; d++) {
      float r = colDot(q[c], q[d], red, t);
      q[d][t] -= r * q[c][t];
      if (t == 0) { rr[c * PC + d] = r; rr[d * PC + c] = 0.f; }
    }
  }
  for (int c = 0; c < PC; c++) p[c * PR + t] = q[c][t];
}

// -- 7. 8-bit product with 32-bit sums, 64 x 64 tile, 8 x 4 results a thread ----------------------
#define TM 64
#define TN 64
#define TK 16
__global__ void __launch_bounds__(128) igemm_nt(const signed char *__restrict__ A, const signed char *__restrict__ B,
                                                int *__restrict__ C, int M, int N, int K) {
  __shared__ int sa[TK][TM + 4];
  __shared__ int sb[TK][TN + 4];
  const int m0 = blockIdx.y * TM, n0 = blockIdx.x * TN;
  const int tr = (threadIdx.x / 16) * 8, tc = (threadIdx.x % 16) * 4;
  int acc[8][4];
#pragma unroll
  for (int i = 0; i < 8; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) acc[i][j] = 0;
  for (int k0 = 0; k0 < K; k0 += TK) {
#pragma unroll
    for (int e = threadIdx.x; e < TM * TK; e += 128) {
      int r = e / TK, c = e % TK;
      sa[c][r] = (m0 + r < M && k0 + c < K) ? A[(size_t)(m0 + r) * K + k0 + c] : 0;
      sb[c][r] = (n0 + r < N && k0 + c < K) ? B[(size_t)(n0 + r) * K + k0 + c] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TK; k++) {
      int a[8], b[4];
#pragma unroll
      for (int i = 0; i < 8; i++) a[i] = sa[k][tr + i];
#pragma unroll
      for (int j = 0; j < 4; j++) b[j] = sb[k][tc + j];
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) acc[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
      if (m0 + tr + i < M && n0 + tc + j < N) C[(size_t)(m0 + tr + i) * N + n0 + tc + j] = acc[i][j];
}

// -- 8. inverse of 6 x 6 matrices, Gauss-Jordan fully unrolled in registers --------------------------
__global__ void inv6x6(const double *__restrict__ in, double *__restrict__ out, unsigned n) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  double m[6][6];
#pragma unroll
  for (int i = 0; i < 6; i++)
#pragma unroll
    for (int j = 0; j < 6; j++) m[i][j] = in[(size_t)(i * 6 + j) * n + t] + (i == j ? 70.0 : 0.0);
#pragma unroll
  for (int k = 0; k < 6; k++) {
    double p = 1.0 / m[k][k];
    m[k][k] = 1.0;
#pragma unroll
    for (int j = 0; j < 6; j++) m[k][j] *= p;
#pragma unroll
    for (int i = 0; i < 6; i++) {
      if (i == k) continue;
      double f = m[i][k];
      m[i][k] = 0.0;
#pragma unroll
      for (int j = 0; j < 6; j++) m[i][j] -= f * m[k][j];
    }
  }
#pragma unroll
  for (int i = 0; i < 6; i++)
#pragma unroll
    for (int j = 0; j < 6; j++) out[(size_t)(i * 6 + j) * n + t] = m[i][j];
}

int main() {
  {
    int n = 1500, k = 700;
    double *A = mk<double>((size_t)n * k), *C = mk<double>((size_t)n * n);
    int g = (n + NB - 1) / NB;
    dsyrk_lower<<<dim3(g, g), dim3(NB, NB)>>>(A, C, n, k, k, n, 1.5, -0.5);
    show("dsyrk_lower", C, (size_t)n * n * 8);
    cudaFree(A); cudaFree(C);
  }
  {
    int batch = 800, nrhs = 500;
    float *L = mk<float>((size_t)batch * 1024), *B = mk<float>((size_t)batch * 32 * nrhs);
    trsm32_batched<float><<<dim3((nrhs + 127) / 128, batch), 128>>>(L, B, nrhs);
    show("trsm32_batched", B, (size_t)batch * 32 * nrhs * 4);
    cudaFree(L); cudaFree(B);
  }
  {
    int batch = 20000;
    float *m = mk<float>((size_t)batch * CN * CN);
    int *info = mk<int>(batch);
    chol24<<<batch, dim3(CN, CN)>>>(m, info);
    show("chol24", m, (size_t)batch * CN * CN * 4);
    show("chol24", info, batch * 4);
    cudaFree(m); cudaFree(info);
  }
  {
    int cnt = 200000;
    float *a = mk<float>((size_t)cnt * 49), *b = mk<float>((size_t)cnt * 7), *x = mk<float>((size_t)cnt * 7);
    lu_pivot_thread<7><<<(cnt + 127) / 128, 128>>>(a, b, x, cnt);
    show("lu_pivot_thread", x, (size_t)cnt * 7 * 4);
    cudaFree(a); cudaFree(b); cudaFree(x);
  }
  {
    size_t n = 3000003;
    double *b = mk<double>(n * 17), *x = mk<double>(n), *y = mk<double>(n);
    dia_spmv<8><<<(unsigned)((n + 255) / 256), 256>>>(b, x, y, n);
    show("dia_spmv", y, n * 8);
    cudaFree(b); cudaFree(x); cudaFree(y);
  }
  {
    int batch = 12000;
    float *q = mk<float>((size_t)batch * PR * PC), *r = mk<float>((size_t)batch * PC * PC);
    mgs_panel<<<batch, PR>>>(q, r);
    show("mgs_panel", q, (size_t)batch * PR * PC * 4);
    show("mgs_panel", r, (size_t)batch * PC * PC * 4);
    cudaFree(q); cudaFree(r);
  }
  {
    int M = 2000, N = 1900, K = 1000;
    signed char *A = mk<signed char>((size_t)M * K), *B = mk<signed char>((size_t)N * K);
    int *C = mk<int>((size_t)M * N);
    igemm_nt<<<dim3((N + TN - 1) / TN, (M + TM - 1) / TM), 128>>>(A, B, C, M, N, K);
    show("igemm_nt", C, (size_t)M * N * 4);
    cudaFree(A); cudaFree(B); cudaFree(C);
  }
  {
    unsigned n = 1000000;
    double *a = mk<double>((size_t)n * 36), *b = mk<double>((size_t)n * 36);
    inv6x6<<<(n + 127) / 128, 128>>>(a, b, n);
    show("inv6x6", b, (size_t)n * 36 * 8);
  }
  return 0;
}
