// Dense and sparse linear algebra, mostly batched.
#include <vector>
#include "shown.h"

/* ------------------------------------------------------------------ */
/* 1. LU with partial pivoting, one 16x16 double matrix per block      */
/* ------------------------------------------------------------------ */
#define NLU 16
__global__ void luBatched16(double *A, int *ipiv, double shift)
{
  __shared__ double a[NLU][NLU + 1];
  __shared__ int piv;
  const int r = threadIdx.y, c = threadIdx.x;
  double *mat = A + (size_t)blockIdx.x * NLU * NLU;
  a[r][c] = mat[r * NLU + c] + (r == c ? shift : 0.0);
  __syncthreads();
  for (int k = 0; k < NLU; k++) {
    if (r == 0 && c == 0) {
      int p = k;
      double big = fabs(a[k][k]);
      for (int i = k + 1; i < NLU; i++)
        if (fabs(a[i][k]) > big) { big = fabs(a[i][k]); p = i; }
      piv = p;
      ipiv[blockIdx.x * NLU + k] = p;
    }
    __syncthreads();
    if (r == 0 && piv != k) {
      double t = a[k][c];
      a[k][c] = a[piv][c];
      a[piv][c] = t;
    }
    __syncthreads();
    if (c == 0 && r > k) a[r][k] /= a[k][k];
    __syncthreads();
    if (r > k && c > k) a[r][c] -= a[r][k] * a[k][c];
    __syncthreads();
  }
  mat[r * NLU + c] = a[r][c];
}

/* ------------------------------------------------------------------ */
/* 2. Cholesky, a warp per matrix, template order                      */
/* ------------------------------------------------------------------ */
template <int N, int MATS>
__global__ void choleskyWarp(const float *__restrict__ in, float *__restrict__ out, int batch, float bump) {
  __shared__ float L[MATS][N][N + 1];
  const int lane = threadIdx.x, m = threadIdx.y;
  const int id = blockIdx.x * MATS + m;
  if (id < batch)
    for (int e = lane; e < N * N; e += 32) {
      int i = e / N, j = e % N;
      // symmetrise what is there
      L[m][i][j] = 0.5f * (in[(size_t)id * N * N + i * N + j] + in[(size_t)id * N * N + j * N + i]) + (i == j ? bump : 0.f);
    }
  __syncthreads();
  for (int j = 0; j < N; ++j) {
    if (id < batch && lane == 0) L[m][j][j] = sqrtf(L[m][j][j]);
    __syncthreads();
    if (id < batch && lane > j && lane < N) L[m][lane][j] /= L[m][j][j];
    __syncthreads();
    if (id < batch && lane > j && lane < N)
      for (int k = j + 1; k <= lane; ++k) L[m][lane][k] -= L[m][lane][j] * L[m][k][j];
    __syncthreads();
  }
  if (id < batch)
    for (int e = lane; e < N * N; e += 32) out[(size_t)id * N * N + e] = (e / N >= e % N) ? L[m][e / N][e % N] : 0.f;
}

/* ------------------------------------------------------------------ */
/* 3. C = alpha A B + beta C, the textbook tile                        */
/* ------------------------------------------------------------------ */
#define BLOCK_SIZE 16
__global__ void dgemmTile(int m, int n, int k, double alpha, const double *A, int lda, const double *B, int ldb,
                          double beta, double *C, int ldc) {
  __shared__ double As[BLOCK_SIZE][BLOCK_SIZE];
  __shared__ double Bs[BLOCK_SIZE][BLOCK_SIZE];
  int row = blockIdx.y * BLOCK_SIZE + threadIdx.y;
  int col = blockIdx.x * BLOCK_SIZE + threadIdx.x;
  double Cvalue = 0.0;
  for (int t = 0; t < (k - 1) / BLOCK_SIZE + 1; t++) {
    int ac = t * BLOCK_SIZE + threadIdx.x, br = t * BLOCK_SIZE + threadIdx.y;
    if (row < m && ac < k) As[threadIdx.y][threadIdx.x] = A[row * lda + ac];
    else As[threadIdx.y][threadIdx.x] = 0.0;
    if (br < k && col < n) Bs[threadIdx.y][threadIdx.x] = B[br * ldb + col];
    else Bs[threadIdx.y][threadIdx.x] = 0.0;
    __syncthreads();
    for (int e = 0; e < BLOCK_SIZE; ++e) Cvalue += As[threadIdx.y][e] * Bs[e][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) C[row * ldc + col] = alpha * Cvalue + beta * C[row * ldc + col];
}

/* ------------------------------------------------------------------ */
/* 4. CSR-stream SpMV: products staged in shared memory, row per thread */
/* ------------------------------------------------------------------ */
constexpr int STREAM_NNZ = 1024;
constexpr int STREAM_THREADS = 128;
__global__ void csrStreamSpmv(const int *__restrict__ rowBlocks, const int *__restrict__ rowPtr, const int *__restrict__ colIdx,
                              const float *__restrict__ val, const float *__restrict__ x, float *__restrict__ y) {
  __shared__ float prod[STREAM_NNZ];
  const int r0 = rowBlocks[blockIdx.x], r1 = rowBlocks[blockIdx.x + 1];
  const int first = rowPtr[r0], nnz = rowPtr[r1] - first;
  for (int i = threadIdx.x; i < nnz; i += STREAM_THREADS) prod[i] = val[first + i] * x[colIdx[first + i]];
  __syncthreads();
  for (int r = r0 + threadIdx.x; r < r1; r += STREAM_THREADS) {
    float s = 0.f;
    for (int j = rowPtr[r] - first; j < rowPtr[r + 1] - first; ++j) s += prod[j];
    y[r] = s;
  }
}

/* ------------------------------------------------------------------ */
/* 5. parallel cyclic reduction for batches of tridiagonal systems     */
/* ------------------------------------------------------------------ */
template <class T>
__global__ void pcrKernel(const T *d_a, const T *d_b, const T *d_c, const T *d_d, T *d_x, int system_size, int iterations)
{
    extern __shared__ __align__(16) char array[];
    int thid = threadIdx.x;
    size_t blid = blockIdx.x;
    T *a = (T *)array;
    T *b = &a[system_size];
    T *c = &b[system_size];
    T *d = &c[system_size];
    int delta = 1;
    a[thid] = thid ? d_a[thid + blid * system_size] : T(0);
    b[thid] = d_b[thid + blid * system_size] + T(30);
    c[thid] = thid < system_size - 1 ? d_c[thid + blid * system_size] : T(0);
    d[thid] = d_d[thid + blid * system_size];
    T aNew, bNew, cNew, dNew;
    __syncthreads();
    for (int j = 0; j < iterations; j++) {
        int i = thid, iRight = i + delta, iLeft = i - delta;
        aNew = T(0); cNew = T(0);
        bNew = b[i];
        dNew = d[i];
        if (iLeft >= 0) {
            T t1 = a[i] / b[iLeft];
            bNew -= c[iLeft] * t1;
            dNew -= d[iLeft] * t1;
            aNew = -a[iLeft] * t1;
        }
        if (iRight < system_size) {
            T t2 = c[i] / b[iRight];
            bNew -= a[iRight] * t2;
            dNew -= d[iRight] * t2;
            cNew = -c[iRight] * t2;
        }
        __syncthreads();
        a[i] = aNew; b[i] = bNew; c[i] = cNew; d[i] = dNew;
        delta *= 2;
        __syncthreads();
    }
    d_x[thid + blid * system_size] = d[thid] / b[thid];
}

/* ------------------------------------------------------------------ */
/* 6. Householder QR, a matrix per thread, interleaved storage         */
/* ------------------------------------------------------------------ */
#define QMAX 8
__global__ void qrPerThread(const float *a_in, float *r_out, float *tau_out, int n, int batch)
{
	int id = blockIdx.x*blockDim.x + threadIdx.x;
	if (id >= batch) return;
	float A[QMAX*QMAX], tau[QMAX];
	for (int i=0; i<n*n; i++)
		A[i] = a_in[(size_t)i*batch + id] + (i % (n+1) == 0 ? 5.0f : 0.0f);
	for (int k=0; k<n; k++) {
		float nrm = 0;
		for (int i=k; i<n; i++) nrm += A[i*n+k]*A[i*n+k];
		nrm = sqrtf(nrm);
		float alpha = A[k*n+k] > 0 ? -nrm : nrm;
		float v0 = A[k*n+k] - alpha;
		tau[k] = (k == n-1 || v0 == 0.0f) ? 0.0f : -v0/alpha;
		if (tau[k] != 0.0f) {
			for (int i=k+1; i<n; i++) A[i*n+k] /= v0;
			A[k*n+k] = alpha;
			for (int j=k+1; j<n; j++) {
				float s = A[k*n+j];
				for (int i=k+1; i<n; i++) s += A[i*n+k]*A[i*n+j];
				s *= tau[k];
				A[k*n+j] -= s;
				for (int i=k+1; i<n; i++) A[i*n+j] -= s*A[i*n+k];
			}
		}
	}
	for (int i=0; i<n*n; i++) r_out[(size_t)i*batch + id] = A[i];
	for (int i=0; i<n; i++) tau_out[(size_t)i*batch + id] = tau[i];
}

/* ------------------------------------------------------------------ */
/* 7. conjugate transpose of a complex matrix                          */
/* ------------------------------------------------------------------ */
const int TILE_DIM = 32;
const int BLOCK_ROWS = 8;
__global__ void hermTranspose(float2 *odata, const float2 *idata, int rows, int cols) {
  __shared__ float2 tile[TILE_DIM][TILE_DIM + 1];
  int x = blockIdx.x * TILE_DIM + threadIdx.x;
  int y = blockIdx.y * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = idata[(size_t)(y + j) * cols + x];
  __syncthreads();
  x = blockIdx.y * TILE_DIM + threadIdx.x;
  y = blockIdx.x * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    if (x < rows && y + j < cols) {
      float2 z = tile[threadIdx.x][threadIdx.y + j];
      odata[(size_t)(y + j) * rows + x] = make_float2(z.x, -z.y);
    }
}

/* ------------------------------------------------------------------ */
/* 8. dominant eigenpair by power iteration, 48x48 matrices            */
/* ------------------------------------------------------------------ */
template <int N>
__global__ void powerIteration(const double *mats, double *lambda, double *vecs, int iters) {
  __shared__ double M[N * N];
  __shared__ double v[N], w[N];
  __shared__ double norm2;
  const int t = threadIdx.x;
  const double *src = mats + (size_t)blockIdx.x * N * N;
  for (int i = t; i < N * N; i += blockDim.x) M[i] = src[i];
  if (t < N) v[t] = 1.0;
  __syncthreads();
  double lam = 0.0;
  for (int it = 0; it < iters; ++it) {
    if (t < N) {
      double s = 0.0;
      for (int j = 0; j < N; ++j) s = fma(M[j * N + t], v[j], s);
      w[t] = s;
    }
    __syncthreads();
    if (t == 0) {
      double q = 0.0;
      for (int j = 0; j < N; ++j) q += w[j] * w[j];
      norm2 = q;
    }
    __syncthreads();
    lam = sqrt(norm2);
    if (t < N) v[t] = w[t] / lam;
    __syncthreads();
  }
  if (t < N) vecs[(size_t)blockIdx.x * N + t] = v[t];
  if (t == 0) lambda[blockIdx.x] = lam;
}

int main() {
  {
    int batch = 20000;
    double *A = mk<double>((size_t)batch * 256);
    int *ip = mk<int>(batch * NLU);
    luBatched16<<<batch, dim3(NLU, NLU)>>>(A, ip, 7.25);
    show("luBatched16", A, (size_t)batch * 256 * sizeof(double));
    show("luBatched16", ip, batch * NLU * sizeof(int));
  }
  {
    constexpr int N = 27;
    int batch = 30001;
    float *a = mk<float>((size_t)batch * N * N), *l = mk<float>((size_t)batch * N * N);
    choleskyWarp<N, 4><<<(batch + 3) / 4, dim3(32, 4)>>>(a, l, batch, 13.f * N);
    show("choleskyWarp", l, (size_t)batch * N * N * sizeof(float));
  }
  {
    int m = 1111, n = 997, k = 1205;
    double *a = mk<double>(m * k), *b = mk<double>(k * n), *c = mk<double>(m * n);
    dgemmTile<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, 0.5, a, k, b, n, -1.0, c, n);
    show("dgemmTile", c, m * n * sizeof(double));
  }
  {
    int rows = 700003;
    std::vector<int> rp(rows + 1), rb(1, 0), ci;
    unsigned s = 12345;
    for (int r = 0; r < rows; r++) {
      s = s * 1664525u + 1013904223u;
      int len = 3 + (s >> 28) + ((s >> 20) % 97 == 0 ? 200 : 0);
      if (rp[r] + len - rp[rb.back()] > STREAM_NNZ) rb.push_back(r);
      for (int j = 0; j < len; j++) { s = s * 1664525u + 1013904223u; ci.push_back((int)((r + (s >> 18)) % rows)); }
      rp[r + 1] = rp[r] + len;
    }
    rb.push_back(rows);
    int *d_rp, *d_rb, *d_ci;
    cudaMalloc(&d_rp, rp.size() * 4); cudaMalloc(&d_rb, rb.size() * 4); cudaMalloc(&d_ci, ci.size() * 4);
    cudaMemcpy(d_rp, rp.data(), rp.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(d_rb, rb.data(), rb.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(d_ci, ci.data(), ci.size() * 4, cudaMemcpyHostToDevice);
    float *v = mk<float>(ci.size()), *x = mk<float>(rows), *y = mk<float>(rows);
    csrStreamSpmv<<<(int)rb.size() - 1, STREAM_THREADS>>>(d_rb, d_rp, d_ci, v, x, y);
    show("csrStreamSpmv", y, rows * sizeof(float));
  }
  {
    int n = 500, sys = 16384;
    size_t tot = (size_t)n * sys;
    float *a = mk<float>(tot), *b = mk<float>(tot), *c = mk<float>(tot), *d = mk<float>(tot), *x = mk<float>(tot);
    pcrKernel<float><<<sys, n, n * 4 * sizeof(float)>>>(a, b, c, d, x, n, 9);
    show("pcrKernel", x, tot * sizeof(float));
  }
  {
    int n = 7, batch = 150000;
    float *a = mk<float>((size_t)n * n * batch), *r = mk<float>((size_t)n * n * batch), *t = mk<float>((size_t)n * batch);
    qrPerThread<<<(batch + 95) / 96, 96>>>(a, r, t, n, batch);
    show("qrPerThread", r, (size_t)n * n * batch * sizeof(float));
    show("qrPerThread", t, (size_t)n * batch * sizeof(float));
  }
  {
    int rows = 3333, cols = 4100;
    float2 *i = (float2 *)mk<float>((size_t)rows * cols * 2), *o = (float2 *)mk<float>((size_t)rows * cols * 2);
    hermTranspose<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(TILE_DIM, BLOCK_ROWS)>>>(o, i, rows, cols);
    show("hermTranspose", o, (size_t)rows * cols * sizeof(float2));
  }
  {
    int batch = 4096;
    double *m = mk<double>((size_t)batch * 48 * 48), *l = mk<double>(batch), *v = mk<double>((size_t)batch * 48);
    powerIteration<48><<<batch, 64>>>(m, l, v, 25);
    show("powerIteration", l, batch * sizeof(double));
    show("powerIteration", v, (size_t)batch * 48 * sizeof(double));
  }
  return 0;
}
