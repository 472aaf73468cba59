// batched small dense/sparse linear algebra
#include "shown.h"

/* ============ LU without pivoting, one n x n matrix per block, n x n threads ============ */
#define LUN 20
__global__ void batched_lu_nopiv(float *A, int count)
{
    __shared__ float a[LUN][LUN + 1];
    if (blockIdx.x >= count) return;
    int r = threadIdx.y, c = threadIdx.x;
    float *M = A + (size_t)blockIdx.x * LUN * LUN;
    a[r][c] = M[r * LUN + c] + (r == c ? 200.f : 0.f);
    __syncthreads();
    for (int k = 0; k < LUN - 1; k++) {
        if (c == k && r > k) a[r][k] /= a[k][k];
        __syncthreads();
        if (r > k && c > k) a[r][c] -= a[r][k] * a[k][c];
        __syncthreads();
    }
    M[r * LUN + c] = a[r][c];
}

/* ============ Cholesky, lower, double; one warp-ish block per matrix, packed storage ============ */
#define PACK(i, j) ((i) * ((i) + 1) / 2 + (j))
template <int n>
__global__ void potrf_packed(const double *Ain, double *Lout)
{
    __shared__ double L[n * (n + 1) / 2];
    const int t = threadIdx.x;                 // n threads, row t
    const double *A = Ain + (size_t)blockIdx.x * n * n;
    for (int i = 0; i < n; ++i)
        if (t <= i) L[PACK(i, t)] = (i == t) ? A[i * n + t] + 400.0 : A[i * n + t];
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        if (t == k) L[PACK(k, k)] = sqrt(L[PACK(k, k)]);
        __syncthreads();
        if (t > k) L[PACK(t, k)] /= L[PACK(k, k)];
        __syncthreads();
        if (t > k)
            for (int j = k + 1; j <= t; ++j) L[PACK(t, j)] -= L[PACK(t, k)] * L[PACK(j, k)];
        __syncthreads();
    }
    double *dst = Lout + (size_t)blockIdx.x * n * n;
    for (int i = 0; i < n; ++i) dst[i * n + t] = t <= i ? L[PACK(i, t)] : 0.0;
}

/* ============ Householder QR of 24 x 12 panels ============ */
#define QR_M 24
#define QR_N 12
__global__ void householder_qr_panel(const float *Ain, float *Rout, float *tau_out)
{
    __shared__ float A[QR_N][QR_M + 1];        // column-major
    __shared__ float v[QR_M];
    __shared__ float red[QR_M];
    __shared__ float s_tau, s_beta;
    const int i = threadIdx.x;                 // row
    const float *src = Ain + (size_t)blockIdx.x * QR_M * QR_N;
    for (int j = 0; j < QR_N; ++j) A[j][i] = src[j * QR_M + i] - 5.0f + (i == j ? 3.0f : 0.f);
    __syncthreads();
    for (int k = 0; k < QR_N; ++k) {
        red[i] = i > k ? A[k][i] * A[k][i] : 0.f;
        __syncthreads();
        if (i == 0) {
            float sig = 0.f;
            for (int q = k + 1; q < QR_M; ++q) sig += red[q];
            float alpha = A[k][k];
            float beta = sqrtf(alpha * alpha + sig);
            if (alpha > 0.f) beta = -beta;
            s_beta = beta;
            s_tau = beta != 0.f ? (beta - alpha) / beta : 0.f;
        }
        __syncthreads();
        float tau = s_tau, beta = s_beta;
        float scale = A[k][k] - beta;
        v[i] = i < k ? 0.f : (i == k ? 1.f : (scale != 0.f ? A[k][i] / scale : 0.f));
        __syncthreads();
        if (i > k && i < QR_N) {                // thread i updates column i
            float w = 0.f;
            for (int q = k; q < QR_M; ++q) w += v[q] * A[i][q];
            w *= tau;
            for (int q = k; q < QR_M; ++q) A[i][q] -= w * v[q];
        }
        if (i == 0) tau_out[blockIdx.x * QR_N + k] = tau;
        if (i >= k) A[k][i] = i == k ? beta : v[i];
        __syncthreads();
    }
    for (int j = 0; j < QR_N; ++j) Rout[(size_t)blockIdx.x * QR_M * QR_N + j * QR_M + i] = A[j][i];
}

/* ============ triangular solve  L X = alpha B, unit or not, many right hand sides ============ */
template <typename REAL, int NB, bool UNIT>
__global__ void trsm_left_lower(const REAL *__restrict__ L, const REAL *__restrict__ B, REAL *__restrict__ X, int nrhs, int ldb, REAL alpha)
{
    __shared__ REAL sL[NB][NB];
    for (int e = threadIdx.x; e < NB * NB; e += blockDim.x) {
        int r = e / NB, c = e % NB;
        sL[r][c] = r == c ? L[e] + REAL(20) : L[e];
    }
    __syncthreads();
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= nrhs) return;
    REAL x[NB];
    for (int i = 0; i < NB; ++i) x[i] = alpha * B[(size_t)i * ldb + col];
    for (int i = 0; i < NB; ++i) {
        REAL t = x[i];
        for (int j = 0; j < i; ++j) t -= sL[i][j] * x[j];
        x[i] = UNIT ? t : t / sL[i][i];
    }
    for (int i = NB; i-- > 0;) X[(size_t)i * ldb + col] = x[i];
}

/* ============ Gauss-Jordan inverse with partial pivoting ============ */
#define GJ 16
__global__ void gauss_jordan_inverse(const float *in, float *out)
{
    __shared__ float aug[GJ][2 * GJ + 1];
    __shared__ int piv;
    __shared__ float factor[GJ];
    const int tx = threadIdx.x, ty = threadIdx.y;        // 32 x 16: column, row
    const size_t off = (size_t)blockIdx.x * GJ * GJ;
    if (tx < GJ) aug[ty][tx] = in[off + ty * GJ + tx] + 0.37f * ((ty * 5 + tx * 3) % 11) + (tx == (ty + 3) % GJ ? 25.f : 0.f);
    else aug[ty][tx] = (tx - GJ == ty) ? 1.f : 0.f;
    __syncthreads();
    for (int p = 0; p < GJ; ++p) {
        if (tx == 0 && ty == 0) {
            int best = p;
            for (int r = p + 1; r < GJ; ++r)
                if (fabsf(aug[r][p]) > fabsf(aug[best][p])) best = r;
            piv = best;
        }
        __syncthreads();
        if (piv != p && ty == 0) {
            float t = aug[p][tx];
            aug[p][tx] = aug[piv][tx];
            aug[piv][tx] = t;
        }
        __syncthreads();
        if (tx == 0) factor[ty] = aug[ty][p];
        __syncthreads();
        float prow = aug[p][tx] / factor[p];
        __syncthreads();
        if (ty == p) aug[p][tx] = prow;
        else aug[ty][tx] -= factor[ty] * prow;
        __syncthreads();
    }
    if (tx >= GJ) out[off + ty * GJ + tx - GJ] = aug[ty][tx];
}

/* ============ cyclic Jacobi eigenvalues of 6x6 symmetric matrices, one thread each ============ */
#define JN 6
__global__ void jacobi_eig_sym6(const float *tri, float *eig, int count, int nsweeps)
{
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= count) return;
    float a[JN][JN];
    int q = 0;
    for (int i = 0; i < JN; i++)
        for (int j = 0; j <= i; j++) {
            float v = tri[(size_t)q * count + m];
            a[i][j] = v;
            a[j][i] = v;
            q++;
        }
    for (int s = 0; s < nsweeps; s++)
        for (int p = 0; p < JN - 1; p++)
            for (int r = p + 1; r < JN; r++) {
                float apr = a[p][r];
                if (fabsf(apr) < 1e-7f) continue;
                float th = 0.5f * (a[r][r] - a[p][p]) / apr;
                float t = copysignf(1.f, th) / (fabsf(th) + sqrtf(1.f + th * th));
                float c = rsqrtf(1.f + t * t), sn = t * c;
                for (int k = 0; k < JN; k++) {
                    float x = a[p][k], y = a[r][k];
                    a[p][k] = c * x - sn * y;
                    a[r][k] = sn * x + c * y;
                }
                for (int k = 0; k < JN; k++) {
                    float x = a[k][p], y = a[k][r];
                    a[k][p] = c * x - sn * y;
                    a[k][r] = sn * x + c * y;
                }
            }
    for (int i = 0; i < JN; i++) eig[(size_t)i * count + m] = a[i][i];
}

/* ============ Thomas algorithm, systems interleaved, c' and d' in shared memory ============ */
#define TH_N 48
#define TH_B 64
__global__ void thomas_shared(const float *rhs, float *x, int nsys, float off, float dia)
{
    __shared__ float cp[TH_N * TH_B];
    __shared__ float dp[TH_N * TH_B];
    const int s = blockIdx.x * TH_B + threadIdx.x;
    float *c = cp + threadIdx.x, *d = dp + threadIdx.x;
    if (s < nsys) {
        c[0] = off / dia;
        d[0] = rhs[s] / dia;
        for (int i = 1; i < TH_N; i++) {
            float m = 1.f / (dia - off * c[(i - 1) * TH_B]);
            c[i * TH_B] = off * m;
            d[i * TH_B] = (rhs[(size_t)i * nsys + s] - off * d[(i - 1) * TH_B]) * m;
        }
        float last = d[(TH_N - 1) * TH_B];
        x[(size_t)(TH_N - 1) * nsys + s] = last;
        for (int i = TH_N - 2; i >= 0; i--) {
            last = d[i * TH_B] - c[i * TH_B] * last;
            x[(size_t)i * nsys + s] = last;
        }
    }
}

/* ============ CSR-stream SpMV: the products of a block's rows are staged ============ */
#define NNZ_BLOCK 1024
__global__ void spmv_csr_stream(const int *rowptr, const int *col, const double *val, const double *x, double *y, int rowsPerBlock, int nrows)
{
    __shared__ double prod[NNZ_BLOCK];
    const int r0 = blockIdx.x * rowsPerBlock;
    const int r1 = min(r0 + rowsPerBlock, nrows);
    const int first = rowptr[r0];
    const int nnz = rowptr[r1] - first;
    for (int i = threadIdx.x; i < nnz; i += blockDim.x) prod[i] = val[first + i] * x[col[first + i]];
    __syncthreads();
    for (int r = r0 + threadIdx.x; r < r1; r += blockDim.x) {
        double s = 0.0;
        int b = rowptr[r] - first;
        const int e = rowptr[r + 1] - first;
        while (b != e) s += prod[b++];
        y[r] = s;
    }
}

int main()
{
    {
        int n = 20000;
        float *a = mk<float>((size_t)n * LUN * LUN);
        batched_lu_nopiv<<<n, dim3(LUN, LUN)>>>(a, n);
        show("batched_lu_nopiv", a, (size_t)n * LUN * LUN * 4);
    }
    {
        int n = 8000;
        double *a = mk<double>((size_t)n * 28 * 28), *l = mk<double>((size_t)n * 28 * 28);
        potrf_packed<28><<<n, 28>>>(a, l);
        show("potrf_packed", l, (size_t)n * 28 * 28 * 8);
    }
    {
        int n = 30000;
        float *a = mk<float>((size_t)n * QR_M * QR_N), *r = mk<float>((size_t)n * QR_M * QR_N), *t = mk<float>(n * QR_N);
        householder_qr_panel<<<n, QR_M>>>(a, r, t);
        show("householder_qr_panel R", r, (size_t)n * QR_M * QR_N * 4);
        show("householder_qr_panel tau", t, (size_t)n * QR_N * 4);
    }
    {
        int nrhs = 300000, ldb = 300032;
        double *l = mk<double>(22 * 22), *b = mk<double>((size_t)22 * ldb), *x = mk<double>((size_t)22 * ldb);
        trsm_left_lower<double, 22, false><<<(nrhs + 127) / 128, 128>>>(l, b, x, nrhs, ldb, 0.5);
        show("trsm_left_lower", x, (size_t)22 * ldb * 8);
    }
    {
        int n = 15000;
        float *a = mk<float>((size_t)n * GJ * GJ), *o = mk<float>((size_t)n * GJ * GJ);
        gauss_jordan_inverse<<<n, dim3(2 * GJ, GJ)>>>(a, o);
        show("gauss_jordan_inverse", o, (size_t)n * GJ * GJ * 4);
    }
    {
        int n = 500003;
        float *t = mk<float>((size_t)n * 21), *e = mk<float>((size_t)n * 6);
        jacobi_eig_sym6<<<(n + 95) / 96, 96>>>(t, e, n, 5);
        show("jacobi_eig_sym6", e, (size_t)n * 6 * 4);
    }
    {
        int n = 200001;
        float *r = mk<float>((size_t)n * TH_N), *x = mk<float>((size_t)n * TH_N);
        thomas_shared<<<(n + TH_B - 1) / TH_B, TH_B>>>(r, x, n, -1.f, 2.5f);
        show("thomas_shared", x, (size_t)n * TH_N * 4);
    }
    {
        int nrows = 1000000, rpb = 90;
        int *hp = (int *)malloc((nrows + 1) * sizeof(int)), *dp, *dc;
        hp[0] = 0;
        for (int i = 0; i < nrows; i++) hp[i + 1] = hp[i] + 3 + (int)((i * 2654435761u) >> 29);   // 3..10, <= 900 per block
        int nnz = hp[nrows];
        int *hc = (int *)malloc(nnz * sizeof(int));
        for (int i = 0; i < nrows; i++)
            for (int j = hp[i]; j < hp[i + 1]; j++) hc[j] = (int)(((long long)i + (long long)(j - hp[i]) * (j - hp[i]) * 997) % nrows);
        cudaMalloc(&dp, (nrows + 1) * sizeof(int));
        cudaMalloc(&dc, nnz * sizeof(int));
        cudaMemcpy(dp, hp, (nrows + 1) * sizeof(int), cudaMemcpyHostToDevice);
        cudaMemcpy(dc, hc, nnz * sizeof(int), cudaMemcpyHostToDevice);
        free(hp);
        free(hc);
        double *v = mk<double>(nnz), *x = mk<double>(nrows), *y = mk<double>(nrows);
        spmv_csr_stream<<<(nrows + rpb - 1) / rpb, 128>>>(dp, dc, v, x, y, rpb, nrows);
        show("spmv_csr_stream", y, (size_t)nrows * 8);
    }
    return 0;
}
