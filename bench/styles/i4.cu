// Matrix products, several shapes and element types.
#include "shown.h"

// ---------------------------------------------------------------- dgemm, 64x64 tile, 4x4 per thread, guarded
template <typename T, int BM, int BN, int BK, int TM, int TN>
__global__ void gemm_guarded(int M, int N, int K, T alpha, const T *A, int lda, const T *B, int ldb, T beta, T *C, int ldc)
{
  __shared__ T sA[BK][BM + 1];
  __shared__ T sB[BK][BN];
  constexpr int NTX = BN / TN, NTY = BM / TM, NT = NTX * NTY;
  const int tid = threadIdx.x, tx = tid % NTX, ty = tid / NTX;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  T acc[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) acc[i][j] = T(0);

  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int e = tid; e < BM * BK; e += NT) {
      int r = e / BK, k = e % BK;
      sA[k][r] = (row0 + r < M && k0 + k < K) ? A[(size_t)(row0 + r) * lda + k0 + k] : T(0);
    }
    for (int e = tid; e < BK * BN; e += NT) {
      int k = e / BN, c = e % BN;
      sB[k][c] = (col0 + c < N && k0 + k < K) ? B[(size_t)(k0 + k) * ldb + col0 + c] : T(0);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      T ra[TM], rb[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) ra[i] = sA[k][ty + i * NTY];
#pragma unroll
      for (int j = 0; j < TN; ++j) rb[j] = sB[k][tx + j * NTX];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] += ra[i] * rb[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      int r = row0 + ty + i * NTY, c = col0 + tx + j * NTX;
      if (r < M && c < N) C[(size_t)r * ldc + c] = alpha * acc[i][j] + beta * C[(size_t)r * ldc + c];
    }
}

// ---------------------------------------------------------------- sgemm, float4, two stages of shared memory
#define FETCH_FLOAT4(p) (reinterpret_cast<const float4 *>(&(p))[0])
#define STORE_FLOAT4(p) (reinterpret_cast<float4 *>(&(p))[0])
__global__ void __launch_bounds__(256) sgemm_pingpong(const float *A, const float *B, float *C, int M, int N, int K)
{
  __shared__ __align__(16) float As[2][8][128];
  __shared__ __align__(16) float Bs[2][8][128];
  const int tid = threadIdx.x;
  const int a_row = tid >> 1, a_col = (tid & 1) << 2;
  const int b_row = tid >> 5, b_col = (tid & 31) << 2;
  const int tr = (tid >> 4) << 3, tc = (tid & 15) << 3;
  const float *pa = A + (size_t)(blockIdx.y * 128 + a_row) * K + a_col;
  const float *pb = B + (size_t)b_row * N + blockIdx.x * 128 + b_col;
  float c[8][8] = {};
  float4 va = FETCH_FLOAT4(pa[0]), vb = FETCH_FLOAT4(pb[0]);
  As[0][a_col][a_row] = va.x; As[0][a_col + 1][a_row] = va.y; As[0][a_col + 2][a_row] = va.z; As[0][a_col + 3][a_row] = va.w;
  STORE_FLOAT4(Bs[0][b_row][b_col]) = vb;
  __syncthreads();
  int cur = 0;
  for (int k0 = 8; k0 <= K; k0 += 8) {
    const bool more = k0 < K;
    if (more) {
      va = FETCH_FLOAT4(pa[k0]);
      vb = FETCH_FLOAT4(pb[(size_t)k0 * N]);
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      __align__(16) float x[8];
      __align__(16) float y[8];
      STORE_FLOAT4(x[0]) = FETCH_FLOAT4(As[cur][k][tr]);
      STORE_FLOAT4(x[4]) = FETCH_FLOAT4(As[cur][k][tr + 4]);
      STORE_FLOAT4(y[0]) = FETCH_FLOAT4(Bs[cur][k][tc]);
      STORE_FLOAT4(y[4]) = FETCH_FLOAT4(Bs[cur][k][tc + 4]);
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) c[i][j] = fmaf(x[i], y[j], c[i][j]);
    }
    if (more) {
      const int nx = cur ^ 1;
      As[nx][a_col][a_row] = va.x; As[nx][a_col + 1][a_row] = va.y; As[nx][a_col + 2][a_row] = va.z; As[nx][a_col + 3][a_row] = va.w;
      STORE_FLOAT4(Bs[nx][b_row][b_col]) = vb;
      __syncthreads();
      cur = nx;
    }
  }
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; j += 4)
      STORE_FLOAT4(C[(size_t)(blockIdx.y * 128 + tr + i) * N + blockIdx.x * 128 + tc + j]) = make_float4(c[i][j], c[i][j + 1], c[i][j + 2], c[i][j + 3]);
}

// ---------------------------------------------------------------- C = A^T B, rectangular block 32x8, 4 rows per thread
__global__ void gemm_tn(const float *A, const float *B, float *C, int m, int n, int k)
{
  __shared__ float at[32][32], bt[32][32];
  float r0 = 0, r1 = 0, r2 = 0, r3 = 0;
  int cx = blockIdx.x * 32 + threadIdx.x;
  int ax = blockIdx.y * 32 + threadIdx.x;
  for (int t = 0; t < k; t += 32) {
    for (int y = threadIdx.y; y < 32; y += 8) {
      at[y][threadIdx.x] = (t + y < k && ax < m) ? A[(size_t)(t + y) * m + ax] : 0.0f;
      bt[y][threadIdx.x] = (t + y < k && cx < n) ? B[(size_t)(t + y) * n + cx] : 0.0f;
    }
    __syncthreads();
    for (int p = 0; p < 32; ++p) {
      float b = bt[p][threadIdx.x];
      r0 += at[p][threadIdx.y] * b;
      r1 += at[p][threadIdx.y + 8] * b;
      r2 += at[p][threadIdx.y + 16] * b;
      r3 += at[p][threadIdx.y + 24] * b;
    }
    __syncthreads();
  }
  int y = blockIdx.y * 32 + threadIdx.y;
  if (cx < n) {
    if (y < m) C[(size_t)y * n + cx] = r0;
    if (y + 8 < m) C[(size_t)(y + 8) * n + cx] = r1;
    if (y + 16 < m) C[(size_t)(y + 16) * n + cx] = r2;
    if (y + 24 < m) C[(size_t)(y + 24) * n + cx] = r3;
  }
}

// ---------------------------------------------------------------- syrk, lower triangle of blocks only
template <int T>
__global__ void syrk_lower(const double *A, double *C, int n, int k, double alpha)
{
  if (blockIdx.x > blockIdx.y) return;
  __shared__ double rowp[T][T + 1];
  __shared__ double colp[T][T + 1];
  const int i = threadIdx.y, j = threadIdx.x;
  const int gi = blockIdx.y * T + i, gj = blockIdx.x * T + j, gc = blockIdx.x * T + i;
  double s = 0;
  for (int t = 0; t < k; t += T) {
    rowp[i][j] = A[(size_t)gi * k + t + j];
    colp[i][j] = A[(size_t)gc * k + t + j];
    __syncthreads();
    for (int p = 0; p < T; p++) s += rowp[i][p] * colp[j][p];
    __syncthreads();
  }
  if (gj <= gi) C[(size_t)gi * n + gj] += alpha * s;
}

// ---------------------------------------------------------------- int8 x int8 -> int32 with packed dot products
__global__ void igemm_dp4a(const int *A4, const int *Bt4, int *C, int M, int N, int K4)
{
  __shared__ int a[32][17];
  __shared__ int b[32][17];
  int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
  int m0 = blockIdx.y * 32, n0 = blockIdx.x * 32;
  int acc[2][2] = {{0, 0}, {0, 0}};
  for (int k = 0; k < K4; k += 16) {
    a[ty][tx] = A4[(m0 + ty) * K4 + k + tx];
    a[ty + 16][tx] = A4[(m0 + ty + 16) * K4 + k + tx];
    b[ty][tx] = Bt4[(n0 + ty) * K4 + k + tx];
    b[ty + 16][tx] = Bt4[(n0 + ty + 16) * K4 + k + tx];
    __syncthreads();
#pragma unroll
    for (int p = 0; p < 16; p++)
      for (int u = 0; u < 2; u++)
        for (int v = 0; v < 2; v++) acc[u][v] = __dp4a(a[ty + 16 * u][p], b[tx + 16 * v][p], acc[u][v]);
    __syncthreads();
  }
  for (int u = 0; u < 2; u++)
    for (int v = 0; v < 2; v++) C[(m0 + ty + 16 * u) * N + n0 + tx + 16 * v] = acc[u][v];
}

// ---------------------------------------------------------------- batched D = A*B*A^T, one small problem per block
__global__ void batched_abat(const float *A, const float *B, float *D, int n)
{
  extern __shared__ float pool[];
  float *a = pool, *b = a + n * n, *t = b + n * n;
  const size_t off = (size_t)blockIdx.x * n * n;
  for (int e = threadIdx.x; e < n * n; e += blockDim.x) {
    a[e] = A[off + e];
    b[e] = B[off + e];
  }
  __syncthreads();
  for (int e = threadIdx.x; e < n * n; e += blockDim.x) {
    int i = e / n, j = e - i * n;
    float s = 0;
    for (int k = 0; k < n; ++k) s += a[i * n + k] * b[k * n + j];
    t[e] = s;
  }
  __syncthreads();
  for (int e = threadIdx.x; e < n * n; e += blockDim.x) {
    int i = e / n, j = e - i * n;
    float s = 0;
    for (int k = 0; k < n; ++k) s += t[i * n + k] * a[j * n + k];
    D[off + e] = s;
  }
}

// ---------------------------------------------------------------- gemv, x staged by chunks, warp per row
__global__ void gemv_staged(const float *A, const float *x, float *y, int rows, int cols)
{
  const int CH = 1024;
  __shared__ float xs[CH];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int r = blockIdx.x * (blockDim.x / 32) + warp;
  float s = 0.f;
  for (int c0 = 0; c0 < cols; c0 += CH) {
    int m = min(CH, cols - c0);
    for (int i = threadIdx.x; i < m; i += blockDim.x) xs[i] = x[c0 + i];
    __syncthreads();
    if (r < rows)
      for (int i = lane; i < m; i += 32) s += A[(size_t)r * cols + c0 + i] * xs[i];
    __syncthreads();
  }
  for (int d = 16; d; d >>= 1) s += __shfl_down_sync(0xffffffff, s, d);
  if (lane == 0 && r < rows) y[r] = s;
}

// ---------------------------------------------------------------- complex gemm
struct cplx { float re, im; };
__device__ inline cplx mad(cplx a, cplx b, cplx c)
{
  c.re += a.re * b.re - a.im * b.im;
  c.im += a.re * b.im + a.im * b.re;
  return c;
}
__global__ void cgemm16(const cplx *A, const cplx *B, cplx *C, int n)
{
  __shared__ cplx sa[16][16], sb[16][16];
  int x = threadIdx.x, y = threadIdx.y, gx = blockIdx.x * 16 + x, gy = blockIdx.y * 16 + y;
  cplx acc = {0.f, 0.f};
  for (int t = 0; t < (n + 15) / 16; ++t) {
    int ka = t * 16 + x, kb = t * 16 + y;
    sa[y][x] = (gy < n && ka < n) ? A[gy * n + ka] : cplx{0.f, 0.f};
    sb[y][x] = (gx < n && kb < n) ? B[kb * n + gx] : cplx{0.f, 0.f};
    __syncthreads();
    for (int k = 0; k < 16; ++k) acc = mad(sa[y][k], sb[k][x], acc);
    __syncthreads();
  }
  if (gx < n && gy < n) C[gy * n + gx] = acc;
}

int main()
{
  {
    int M = 1001, N = 777, K = 515;
    double *a = mk<double>((size_t)M * K), *b = mk<double>((size_t)K * N), *c = mk<double>((size_t)M * N);
    gemm_guarded<double, 64, 64, 16, 4, 4><<<dim3((N + 63) / 64, (M + 63) / 64), 256>>>(M, N, K, 1.5, a, K, b, N, 0.5, c, N);
    show("gemm_guarded", c, 8ull * M * N);
  }
  {
    int M = 1536, N = 1280, K = 1024;
    float *a = mk<float>((size_t)M * K), *b = mk<float>((size_t)K * N), *c = mk<float>((size_t)M * N);
    sgemm_pingpong<<<dim3(N / 128, M / 128), 256>>>(a, b, c, M, N, K);
    show("sgemm_pingpong", c, 4ull * M * N);
    gemm_tn<<<dim3((N - 9 + 31) / 32, (1000 + 31) / 32), dim3(32, 8)>>>(a, b, c, 1000, N - 9, 500);
    show("gemm_tn", c, 4ull * M * N);
  }
  {
    int n = 1024, k = 512;
    double *a = mk<double>((size_t)n * k), *c = mk<double>((size_t)n * n);
    syrk_lower<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, c, n, k, -0.25);
    show("syrk_lower", c, 8ull * n * n);
  }
  {
    int M = 2048, N = 1024, K4 = 256;
    int *a = (int *)mk<unsigned char>((size_t)M * K4 * 4), *b = (int *)mk<unsigned char>((size_t)N * K4 * 4 + 4), *c = mk<int>((size_t)M * N);
    igemm_dp4a<<<dim3(N / 32, M / 32), 256>>>(a, b, c, M, N, K4);
    show("igemm_dp4a", c, 4ull * M * N);
  }
  {
    int n = 18, nb = 6000;
    float *a = mk<float>((size_t)nb * n * n), *b = mk<float>((size_t)nb * n * n), *d = mk<float>((size_t)nb * n * n);
    batched_abat<<<nb, 128, 3 * n * n * sizeof(float)>>>(a, b, d, n);
    show("batched_abat", d, 4ull * nb * n * n);
  }
  {
    int r = 12345, c = 3100;
    float *a = mk<float>((size_t)r * c), *x = mk<float>(c), *y = mk<float>(r);
    gemv_staged<<<(r + 7) / 8, 256>>>(a, x, y, r, c);
    show("gemv_staged", y, 4ull * r);
  }
  {
    int n = 700;
    cplx *a = (cplx *)mk<float>(2 * n * n), *b = (cplx *)mk<float>(2 * n * n), *c = (cplx *)mk<float>(2 * n * n);
    cgemm16<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(a, b, c, n);
    show("cgemm16", c, 8ull * n * n);
  }
  return 0;
}
