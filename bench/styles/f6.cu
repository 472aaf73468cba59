// small factorizations and solvers, one problem (or a few) per block
#include "shown.h"

// ======== LU without pivoting, Rodinia-like: 16 threads and one 16x16 tile, row and column parts alternate ========
#define LU_BS 16
__global__ void lud_diagonal(float *m, int matrix_dim)
{
  int i,j;
  __shared__ float shadow[LU_BS][LU_BS];

  // block b takes the b-th diagonal tile of a tall stack of tiles
  int array_offset = blockIdx.x*LU_BS*matrix_dim;
  for(i=0; i < LU_BS; i++){
    shadow[i][threadIdx.x]=m[array_offset+threadIdx.x];
    array_offset += matrix_dim;
  }
  __syncthreads();
  for(i=0; i < LU_BS-1; i++) {

    if (threadIdx.x>i){
      for(j=0; j < i; j++)
        shadow[threadIdx.x][i] -= shadow[threadIdx.x][j]*shadow[j][i];
      shadow[threadIdx.x][i] /= shadow[i][i];
    }

    __syncthreads();
    if (threadIdx.x>i){

      for(j=0; j < i+1; j++)
        shadow[i+1][threadIdx.x] -= shadow[i+1][j]*shadow[j][threadIdx.x];
    }
    __syncthreads();
  }

  array_offset = (blockIdx.x*LU_BS+1)*matrix_dim;
  for(i=1; i < LU_BS; i++){
    m[array_offset+threadIdx.x]=shadow[i][threadIdx.x];
    array_offset += matrix_dim;
  }
}

// ======== right looking LU, one thread per entry ========
template <class Real, int N>
__global__ void lu_block(const Real *A, Real *LU)
{
    __shared__ Real a[N][N + 1];
    const int r = threadIdx.y, c = threadIdx.x;
    const size_t at = (size_t)blockIdx.x * N * N + r * N + c;
    a[r][c] = A[at];
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < N - 1; ++k) {
        if (c == k && r > k) a[r][k] /= a[k][k];
        __syncthreads();
        if (r > k && c > k) a[r][c] -= a[r][k] * a[k][c];
        __syncthreads();
    }
    LU[at] = a[r][c];
}

// ======== Cholesky, runtime order up to 48, dynamic tile, loops over rows by stride ========
__global__ void chol_batched(const double* __restrict__ spd, double* __restrict__ out, int n, int ld)
{
  extern __shared__ double L[];
  const double* src = spd + (size_t)blockIdx.x * n * n;
  double* dst = out + (size_t)blockIdx.x * n * n;
  for (int e = threadIdx.x; e < n * n; e += blockDim.x)
    L[(e / n) * ld + e % n] = src[e];
  __syncthreads();

  for (int k = 0; k < n; ++k) {
    if (threadIdx.x == 0) L[k * ld + k] = sqrt(L[k * ld + k]);
    __syncthreads();
    const double d = L[k * ld + k];
    for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) L[i * ld + k] /= d;
    __syncthreads();
    const int m = n - k - 1;
    for (int e = threadIdx.x; e < m * m; e += blockDim.x) {
      int i = k + 1 + e / m, j = k + 1 + e % m;
      if (j <= i) L[i * ld + j] -= L[i * ld + k] * L[j * ld + k];
    }
    __syncthreads();
  }
  for (int e = threadIdx.x; e < n * n; e += blockDim.x) {
    int i = e / n, j = e % n;
    dst[e] = j <= i ? L[i * ld + j] : 0.0;
  }
}

// ======== triangular solve: the factor in shared memory, each thread carries one right hand side ========
template <int DIM>
__global__ void trsm_lower(const float *L_, const float *B, float *X, int nrhs, bool unit)
{
    __shared__ float Ls[DIM * DIM];
    __shared__ float inv_diag[DIM];
    for (int i = threadIdx.x; i < DIM * DIM; i += blockDim.x) Ls[i] = L_[i];
    __syncthreads();
    if (threadIdx.x < DIM) inv_diag[threadIdx.x] = unit ? 1.f : 1.f / Ls[threadIdx.x * DIM + threadIdx.x];
    __syncthreads();
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= nrhs) return;
    float x[DIM];
#pragma unroll
    for (int i = 0; i < DIM; ++i) {
        float s = B[(size_t)i * nrhs + col];
#pragma unroll
        for (int j = 0; j < i; ++j) s -= Ls[i * DIM + j] * x[j];
        x[i] = s * inv_diag[i];
        X[(size_t)i * nrhs + col] = x[i];
    }
}

// ======== tridiagonal systems by parallel cyclic reduction, five arrays carved from one buffer ========
__global__ void pcrKernel(float *d_a, float *d_b, float *d_c, float *d_d, float *d_x, int systemSize, int iterations)
{
    int thid = threadIdx.x;
    int blid = blockIdx.x;

    extern __shared__ char array[];

    float* a = (float*)array;
    float* b = (float*)&a[systemSize];
    float* c = (float*)&b[systemSize];
    float* d = (float*)&c[systemSize];
    float* x = (float*)&d[systemSize];

    a[thid] = d_a[thid + blid * systemSize];
    b[thid] = d_b[thid + blid * systemSize];
    c[thid] = d_c[thid + blid * systemSize];
    d[thid] = d_d[thid + blid * systemSize];

    float aNew, bNew, cNew, dNew;
    int delta = 1;
    __syncthreads();

    for (int j = 0; j < iterations; j++)
    {
        int i = thid;
        int iRight = i+delta;
        if (iRight >= systemSize) iRight = systemSize - 1;
        int iLeft = i-delta;
        if (iLeft < 0) iLeft = 0;

        float tmp1 = a[i] / b[iLeft];
        float tmp2 = c[i] / b[iRight];

        bNew = b[i] - c[iLeft] * tmp1 - a[iRight] * tmp2;
        dNew = d[i] - d[iLeft] * tmp1 - d[iRight] * tmp2;
        aNew = -a[iLeft] * tmp1;
        cNew = -c[iRight] * tmp2;

        __syncthreads();
        b[i] = bNew;
        d[i] = dNew;
        a[i] = aNew;
        c[i] = cNew;
        delta *= 2;
        __syncthreads();
    }

    if (thid < delta)
    {
        int addr1 = thid;
        int addr2 = thid+delta;
        float tmp3 = b[addr2] * b[addr1] - c[addr1] * a[addr2];
        x[addr1] = (b[addr2] * d[addr1] - c[addr1] * d[addr2]) / tmp3;
        x[addr2] = (d[addr2] * b[addr1] - d[addr1] * a[addr2]) / tmp3;
    }
    __syncthreads();
    d_x[thid + blid * systemSize] = x[thid];
}

// ======== Gauss-Jordan inverse, several matrices side by side along z ========
namespace inv {
enum { W = 8, PER = 4 };
__global__ void gauss_jordan(const float *in, float *out, int count)
{
    __shared__ float aug[PER][W][2 * W];
    int z = threadIdx.z, i = threadIdx.y, j = threadIdx.x;
    int id = blockIdx.x * PER + z;
    bool live = id < count;
    aug[z][i][j] = live ? in[(id * W + i) * W + j] : (i == j ? 1.f : 0.f);
    aug[z][i][j + W] = i == j ? 1.f : 0.f;
    __syncthreads();
    for (int p = 0; p < W; p++) {
        float piv = aug[z][p][p];
        float f = aug[z][i][p];
        float l = aug[z][p][j] / piv, r = aug[z][p][j + W] / piv;
        __syncthreads();
        if (i == p) {
            aug[z][i][j] = l;
            aug[z][i][j + W] = r;
        } else {
            aug[z][i][j] -= f * l;
            aug[z][i][j + W] -= f * r;
        }
        __syncthreads();
    }
    if (live) out[(id * W + i) * W + j] = aug[z][i][j + W];
}
}

// ======== symmetric eigenvalues by two-sided Jacobi, pairs from a round robin tournament ========
__device__ __forceinline__ void rotationFor(float app, float aqq, float apq, float &c, float &s)
{
	if (fabsf(apq) < 1e-12f) { c = 1.f; s = 0.f; return; }
	float tau = (aqq - app) / (2.f * apq);
	float t = (tau >= 0.f ? 1.f : -1.f) / (fabsf(tau) + sqrtf(1.f + tau * tau));
	c = rsqrtf(1.f + t * t);
	s = t * c;
}

template<int N, int SWEEPS>
__global__ void jacobiEigenvalues(const float *mats, float *eig)
{
	__shared__ float A[N][N + 1];
	__shared__ float cs[N / 2], sn[N / 2];
	__shared__ int   pp[N / 2], qq[N / 2];
	const int k = threadIdx.y;      // pair
	const int l = threadIdx.x;      // line
	const float *M = mats + (size_t)blockIdx.x * N * N;
	A[k][l] = 0.5f * (M[k * N + l] + M[l * N + k]);
	A[k + N / 2][l] = 0.5f * (M[(k + N / 2) * N + l] + M[l * N + k + N / 2]);
	__syncthreads();
	for (int round = 0; round < SWEEPS * (N - 1); round++) {
		int r = round % (N - 1);
		if (l == 0) {
			int p = k == 0 ? N - 1 : (r + k) % (N - 1);
			int q = (r + N - 1 - k) % (N - 1);
			if (p > q) { int t = p; p = q; q = t; }
			pp[k] = p;
			qq[k] = q;
			rotationFor(A[p][p], A[q][q], A[p][q], cs[k], sn[k]);
		}
		__syncthreads();
		const int p = pp[k], q = qq[k];
		const float c = cs[k], s = sn[k];
		float x = A[p][l], y = A[q][l];
		A[p][l] = c * x - s * y;
		A[q][l] = s * x + c * y;
		__syncthreads();
		x = A[l][p];
		y = A[l][q];
		A[l][p] = c * x - s * y;
		A[l][q] = s * x + c * y;
		__syncthreads();
	}
	if (k == 0) eig[blockIdx.x * N + l] = A[l][l];
}

static unsigned hash32(unsigned x) { x *= 2654435761u; x ^= x >> 15; x *= 2246822519u; x ^= x >> 13; return x; }
template <class T> T *matrices(size_t count, int n, int ld, T diag, bool sym)
{
    size_t tot = count * n * ld;
    T *h = (T *)malloc(tot * sizeof(T)), *d;
    for (size_t b = 0; b < count; b++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < ld; j++) {
                unsigned u = sym ? (unsigned)(i < j ? i * ld + j : j * ld + i) : (unsigned)(i * ld + j);
                h[(b * n + i) * ld + j] = (T)(hash32((unsigned)b * 7919u + u) % 1000) / (T)1000 + (i == j ? diag : (T)0);
            }
    cudaMalloc(&d, tot * sizeof(T));
    cudaMemcpy(d, h, tot * sizeof(T), cudaMemcpyHostToDevice);
    free(h);
    return d;
}

int main()
{
    {
        int b = 40000;
        float *m = matrices<float>(b, 16, 16, 17.f, false);
        lud_diagonal<<<b, 16>>>(m, 16);
        show("lud_diagonal", m, (size_t)b * 256 * 4);
    }
    {
        int b = 12000;
        float *a = matrices<float>(b, 32, 32, 33.f, false), *o = mk<float>(b * 1024);
        lu_block<float, 32><<<b, dim3(32, 32)>>>(a, o);
        show("lu_block<float,32>", o, (size_t)b * 1024 * 4);
        double *da = matrices<double>(b, 16, 16, 17.0, false), *dout = mk<double>(b * 256);
        lu_block<double, 16><<<b, dim3(16, 16)>>>(da, dout);
        show("lu_block<double,16>", dout, (size_t)b * 256 * 8);
    }
    {
        int b = 6000, n = 24;
        double *a = matrices<double>(b, n, n, 25.0, true), *o = mk<double>((size_t)b * n * n);
        chol_batched<<<b, 128, n * (n + 1) * sizeof(double)>>>(a, o, n, n + 1);
        show("chol_batched 24", o, (size_t)b * n * n * 8);
        n = 40; b = 2000;
        double *a2 = matrices<double>(b, n, n, 41.0, true), *o2 = mk<double>((size_t)b * n * n);
        chol_batched<<<b, 192, n * n * sizeof(double)>>>(a2, o2, n, n);
        show("chol_batched 40", o2, (size_t)b * n * n * 8);
    }
    {
        int nrhs = 1000003;
        float *L = matrices<float>(1, 32, 32, 5.f, false), *B = mk<float>((size_t)nrhs * 32), *X = mk<float>((size_t)nrhs * 32);
        trsm_lower<32><<<(nrhs + 127) / 128, 128>>>(L, B, X, nrhs, false);
        show("trsm_lower<32>", X, (size_t)nrhs * 32 * 4);
        trsm_lower<16><<<(nrhs + 63) / 64, 64>>>(L, B, X, nrhs, true);
        show("trsm_lower<16> unit", X, (size_t)nrhs * 16 * 4);
    }
    {
        int sys = 20000, n = 256;
        size_t tot = (size_t)sys * n;
        float *h = (float *)malloc(tot * 4), *a, *b, *c, *d = mk<float>(tot), *x = mk<float>(tot);
        cudaMalloc(&a, tot * 4); cudaMalloc(&b, tot * 4); cudaMalloc(&c, tot * 4);
        for (size_t i = 0; i < tot; i++) h[i] = i % n == 0 ? 0.f : -1.f + 0.001f * (hash32(i) % 100);
        cudaMemcpy(a, h, tot * 4, cudaMemcpyHostToDevice);
        for (size_t i = 0; i < tot; i++) h[i] = i % n == n - 1 ? 0.f : -1.f + 0.001f * (hash32(i + 5) % 100);
        cudaMemcpy(c, h, tot * 4, cudaMemcpyHostToDevice);
        for (size_t i = 0; i < tot; i++) h[i] = 2.2f + 0.01f * (hash32(i + 9) % 100);
        cudaMemcpy(b, h, tot * 4, cudaMemcpyHostToDevice);
        free(h);
        pcrKernel<<<sys, n, n * 5 * sizeof(float)>>>(a, b, c, d, x, n, 7);
        show("pcrKernel", x, tot * 4);
    }
    {
        int cnt = 200001;
        float *a = matrices<float>(cnt, 8, 8, 6.f, false), *o = mk<float>(cnt * 64);
        inv::gauss_jordan<<<(cnt + 3) / 4, dim3(8, 8, 4)>>>(a, o, cnt);
        show("gauss_jordan", o, (size_t)cnt * 64 * 4);
    }
    {
        int b = 6000;
        float *m = matrices<float>(b, 16, 16, 1.f, false), *e = mk<float>(b * 16);
        jacobiEigenvalues<16, 4><<<b, dim3(16, 8)>>>(m, e);
        show("jacobiEigenvalues<16>", e, (size_t)b * 16 * 4);
        float *m8 = m, *e8 = mk<float>(4 * b * 8);
        jacobiEigenvalues<8, 5><<<4 * b, dim3(8, 4)>>>(m8, e8);
        show("jacobiEigenvalues<8>", e8, (size_t)4 * b * 8 * 4);
    }
    return 0;
}
