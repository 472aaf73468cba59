// h11 : dense linear algebra, course work and library-like versions
#include "shown.h"
#include <complex>
#include <vector>

// =================== 128x128 register-blocked SGEMM with float4 ======================
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1)
sgemm_vectorized(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
  const uint cRow = blockIdx.y;
  const uint cCol = blockIdx.x;
  const int threadCol = threadIdx.x % (BN / TN);
  const int threadRow = threadIdx.x / (BN / TN);

  __shared__ __align__(16) float As[BM * BK];
  __shared__ __align__(16) float Bs[BK * BN];

  A += cRow * BM * K;
  B += cCol * BN;
  C += cRow * BM * N + cCol * BN;

  const uint innerRowA = threadIdx.x / (BK / 4);
  const uint innerColA = threadIdx.x % (BK / 4);
  const uint innerRowB = threadIdx.x / (BN / 4);
  const uint innerColB = threadIdx.x % (BN / 4);

  float threadResults[TM * TN] = {0.0};
  float regM[TM] = {0.0};
  float regN[TN] = {0.0};

  for (uint bkIdx = 0; bkIdx < K; bkIdx += BK) {
    float4 tmp = reinterpret_cast<float4 *>(&A[innerRowA * K + innerColA * 4])[0];
    As[(innerColA * 4 + 0) * BM + innerRowA] = tmp.x;
    As[(innerColA * 4 + 1) * BM + innerRowA] = tmp.y;
    As[(innerColA * 4 + 2) * BM + innerRowA] = tmp.z;
    As[(innerColA * 4 + 3) * BM + innerRowA] = tmp.w;
    reinterpret_cast<float4 *>(&Bs[innerRowB * BN + innerColB * 4])[0] =
        reinterpret_cast<float4 *>(&B[innerRowB * N + innerColB * 4])[0];
    __syncthreads();

    A += BK;
    B += BK * N;

    for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (uint i = 0; i < TM; ++i) regM[i] = As[dotIdx * BM + threadRow * TM + i];
      for (uint i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
      for (uint resIdxM = 0; resIdxM < TM; ++resIdxM)
        for (uint resIdxN = 0; resIdxN < TN; ++resIdxN)
          threadResults[resIdxM * TN + resIdxN] += regM[resIdxM] * regN[resIdxN];
    }
    __syncthreads();
  }

  for (uint resIdxM = 0; resIdxM < TM; resIdxM += 1)
    for (uint resIdxN = 0; resIdxN < TN; resIdxN += 4) {
      float4 *p = reinterpret_cast<float4 *>(&C[(threadRow * TM + resIdxM) * N + threadCol * TN + resIdxN]);
      float4 tmp = *p;
      tmp.x = alpha * threadResults[resIdxM * TN + resIdxN] + beta * tmp.x;
      tmp.y = alpha * threadResults[resIdxM * TN + resIdxN + 1] + beta * tmp.y;
      tmp.z = alpha * threadResults[resIdxM * TN + resIdxN + 2] + beta * tmp.z;
      tmp.w = alpha * threadResults[resIdxM * TN + resIdxN + 3] + beta * tmp.w;
      *p = tmp;
    }
}

// =================== C = A^T * B, double precision, odd sizes ======================
#define T_D 16
__global__ void dgemm_tn(const double *A, const double *B, double *C, int m, int n, int k, int lda, int ldb, int ldc)
{
    __shared__ double tA[T_D][T_D + 1], tB[T_D][T_D + 1];
    int r = blockIdx.y * T_D + threadIdx.y, c = blockIdx.x * T_D + threadIdx.x;
    double sum = 0.0;
    int ntile = (k - 1) / T_D + 1;
    for (int t = 0; t < ntile; t++) {
        int kk = t * T_D + threadIdx.y;
        int ar = blockIdx.y * T_D + threadIdx.x;
        if (kk < k && ar < m) tA[threadIdx.y][threadIdx.x] = A[kk * lda + ar];
        else tA[threadIdx.y][threadIdx.x] = 0.0;
        if (kk < k && c < n) tB[threadIdx.y][threadIdx.x] = B[kk * ldb + c];
        else tB[threadIdx.y][threadIdx.x] = 0.0;
        __syncthreads();
        for (int p = 0; p < T_D; p++)
            sum += tA[p][threadIdx.y] * tB[p][threadIdx.x];
        __syncthreads();
    }
    if (r < m && c < n) C[r * ldc + c] = sum;
}

// =================== batched Cholesky of a tile held in shared memory ======================
template <int N>
__global__ void potrf_batched(float *Abatch, int batch)
{
    __shared__ float s[N][N + 1];
    float *A = Abatch + (size_t)blockIdx.x * N * N;
    const int tid = threadIdx.x;
    for (int e = tid; e < N * N; e += blockDim.x) {
        int i = e / N, j = e % N;
        // make symmetric positive definite
        float v = 0.5f * (A[i * N + j] + A[j * N + i]);
        s[i][j] = v + (i == j ? 13.f * N : 0.f);
    }
    __syncthreads();
    for (int k = 0; k < N; k++) {
        if (tid == 0) s[k][k] = sqrtf(s[k][k]);
        __syncthreads();
        for (int i = k + 1 + tid; i < N; i += blockDim.x) s[i][k] /= s[k][k];
        __syncthreads();
        const int rem = N - k - 1;
        for (int e = tid; e < rem * rem; e += blockDim.x) {
            int i = k + 1 + e / rem, j = k + 1 + e % rem;
            if (j <= i) s[i][j] -= s[i][k] * s[j][k];
        }
        __syncthreads();
    }
    for (int e = tid; e < N * N; e += blockDim.x) {
        int i = e / N, j = e % N;
        A[e] = j <= i ? s[i][j] : 0.f;
    }
}

// =================== small systems with partial pivoting, matrix per thread ======================
#define NV 6
__device__ static bool lu_pivot(float a[NV][NV], int *perm)
{
    for (int i = 0; i < NV; i++) perm[i] = i;
    for (int k = 0; k < NV; k++) {
        int piv = k;
        float big = fabsf(a[k][k]);
        for (int i = k + 1; i < NV; i++)
            if (fabsf(a[i][k]) > big) { big = fabsf(a[i][k]); piv = i; }
        if (big == 0.f) return false;
        if (piv != k) {
            for (int j = 0; j < NV; j++) { float t = a[k][j]; a[k][j] = a[piv][j]; a[piv][j] = t; }
            int t = perm[k]; perm[k] = perm[piv]; perm[piv] = t;
        }
        for (int i = k + 1; i < NV; i++) {
            a[i][k] /= a[k][k];
            for (int j = k + 1; j < NV; j++) a[i][j] -= a[i][k] * a[k][j];
        }
    }
    return true;
}
__global__ void solve_small(const float *mats, const float *rhs, float *sol, int *ok, int count)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count) return;
    float a[NV][NV], x[NV];
    int perm[NV];
    for (int i = 0; i < NV; i++)
        for (int j = 0; j < NV; j++) {
            unsigned h = (id * 36 + i * 6 + j) * 2654435761u;
            a[i][j] = mats[(size_t)(i * NV + j) * count + id] + (float)(h >> 24) * 0.0625f - 8.f;
        }
    bool good = lu_pivot(a, perm);
    ok[id] = good;
    for (int i = 0; i < NV; i++) {
        float s = rhs[(size_t)perm[i] * count + id];
        for (int j = 0; j < i; j++) s -= a[i][j] * x[j];
        x[i] = s;
    }
    for (int i = NV - 1; i >= 0; i--) {
        float s = x[i];
        for (int j = i + 1; j < NV; j++) s -= a[i][j] * x[j];
        x[i] = good ? s / a[i][i] : 0.f;
    }
    for (int i = 0; i < NV; i++) sol[(size_t)i * count + id] = x[i];
}

// =================== gemv (row major), x staged in chunks, several rows per block ======================
__global__ void gemv_chunks(const float *A, const float *x, float *y, int m, int n, int lda)
{
    __shared__ float xs[512];
    __shared__ float part[8][33];
    int row = blockIdx.x * 8 + threadIdx.y;
    float s = 0;
    for (int base = 0; base < n; base += 512) {
        for (int t = threadIdx.y * 32 + threadIdx.x; t < 512; t += 256)
            xs[t] = base + t < n ? x[base + t] : 0.f;
        __syncthreads();
        if (row < m) {
            int lim = min(512, n - base);
            for (int c = threadIdx.x; c < lim; c += 32) s += A[(size_t)row * lda + base + c] * xs[c];
        }
        __syncthreads();
    }
    part[threadIdx.y][threadIdx.x] = s;
    __syncthreads();
    for (int h = 16; h >= 1; h /= 2) {
        if (threadIdx.x < h) part[threadIdx.y][threadIdx.x] += part[threadIdx.y][threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0 && row < m) y[row] = part[threadIdx.y][0];
}

// =================== triangular solve with many right-hand sides (tile in shared) ======================
__global__ void trsm_lower_tile(const float *L, float *X, int n, int nrhs)
{
    extern __shared__ float Lsh[];                 // n * n, n <= 64
    for (int e = threadIdx.x; e < n * n; e += blockDim.x) Lsh[e] = L[e] * 0.01f + (e / n == e % n ? 2.f : 0.f);
    __syncthreads();
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= nrhs) return;
    float xv[64];
    for (int i = 0; i < n; i++) {
        float s = X[(size_t)i * nrhs + c];
        for (int j = 0; j < i; j++) s -= Lsh[i * n + j] * xv[j];
        xv[i] = s / Lsh[i * n + i];
    }
    for (int i = 0; i < n; i++) X[(size_t)i * nrhs + c] = xv[i];
}

// =================== complex matrix product with struct ======================
struct cuCx { float re, im; };
__device__ inline cuCx cmadd(cuCx a, cuCx b, cuCx c)
{
    c.re += a.re * b.re - a.im * b.im;
    c.im += a.re * b.im + a.im * b.re;
    return c;
}
template <unsigned TS>
__global__ void cgemm(const cuCx *A, const cuCx *B, cuCx *C, unsigned n)
{
    __shared__ cuCx a[TS][TS];
    __shared__ cuCx b[TS][TS];
    unsigned x = blockIdx.x * TS + threadIdx.x, y = blockIdx.y * TS + threadIdx.y;
    cuCx acc = {0.f, 0.f};
    const cuCx zero = {0.f, 0.f};
    for (unsigned k = 0; k < n; k += TS) {
        a[threadIdx.y][threadIdx.x] = (y < n && k + threadIdx.x < n) ? A[y * n + k + threadIdx.x] : zero;
        b[threadIdx.y][threadIdx.x] = (x < n && k + threadIdx.y < n) ? B[(k + threadIdx.y) * n + x] : zero;
        __syncthreads();
#pragma unroll
        for (unsigned q = 0; q < TS; q++) acc = cmadd(a[threadIdx.y][q], b[q][threadIdx.x], acc);
        __syncthreads();
    }
    if (x >= n || y >= n) return;
    C[y * n + x] = acc;
}

int main()
{
    {
        int M = 2048, N = 1920, K = 1024;
        float *A = mk<float>(M * K), *B = mk<float>(K * N), *C = mk<float>(M * N);
        sgemm_vectorized<128, 128, 8, 8, 8><<<dim3(N / 128, M / 128), 256>>>(M, N, K, 1.f, A, B, 0.5f, C);
        show("sgemm_vectorized", C, 4ull * M * N);
    }
    {
        int m = 701, n = 905, k = 799, lda = 704, ldb = 912, ldc = 905;
        double *A = mk<double>(k * lda), *B = mk<double>(k * ldb), *C = mk<double>(m * ldc);
        dgemm_tn<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(A, B, C, m, n, k, lda, ldb, ldc);
        show("dgemm_tn", C, 8ull * m * ldc);
    }
    {
        int b = 2000;
        float *A = mk<float>(b * 48 * 48);
        potrf_batched<48><<<b, 128>>>(A, b);
        show("potrf_batched", A, 4ull * b * 48 * 48);
    }
    {
        int c = 200001;
        float *m = mk<float>(36ull * c), *r = mk<float>(6ull * c), *s = mk<float>(6ull * c);
        int *ok = mk<int>(c);
        solve_small<<<(c + 127) / 128, 128>>>(m, r, s, ok, c);
        show("solve_small", s, 24ull * c);
        show("solve_small_ok", ok, 4ull * c);
    }
    {
        int m = 4099, n = 5003, lda = 5008;
        float *A = mk<float>((size_t)m * lda), *x = mk<float>(n), *y = mk<float>(m);
        gemv_chunks<<<(m + 7) / 8, dim3(32, 8)>>>(A, x, y, m, n, lda);
        show("gemv_chunks", y, 4ull * m);
    }
    {
        int n = 56, nr = 150001;
        float *L = mk<float>(n * n), *X = mk<float>((size_t)n * nr);
        trsm_lower_tile<<<(nr + 127) / 128, 128, n * n * sizeof(float)>>>(L, X, n, nr);
        show("trsm_lower_tile", X, 4ull * n * nr);
    }
    {
        unsigned n = 777;
        cuCx *A = (cuCx *)mk<float>(2 * n * n), *B = (cuCx *)mk<float>(2 * n * n), *C = (cuCx *)mk<float>(2 * n * n);
        cgemm<16><<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(A, B, C, n);
        show("cgemm", C, 8ull * n * n);
    }
    return 0;
}
