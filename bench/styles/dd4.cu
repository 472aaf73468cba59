// Dense and sparse linear algebra.
#include <cmath>
#include "shown.h"

// --- SGEMM with register blocking, A kept transposed in shared memory, guarded edges ----------------
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__((BM / TM) * (BN / TN))
sgemmBlocked(int M, int N, int K, float alpha, const float *__restrict__ A, int lda, const float *__restrict__ B, int ldb,
             float beta, float *__restrict__ C, int ldc)
{
    constexpr int NT = (BM / TM) * (BN / TN);
    __shared__ float As[BK][BM + 4];
    __shared__ float Bs[BK][BN];
    const int tid = threadIdx.x;
    const int tr = tid / (BN / TN), tc = tid % (BN / TN);
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
        for (int i = tid; i < BM * BK; i += NT) {
            int r = i / BK, k = i % BK;
            As[k][r] = (row0 + r < M && k0 + k < K) ? A[(size_t)(row0 + r) * lda + k0 + k] : 0.f;
        }
#pragma unroll
        for (int i = tid; i < BK * BN; i += NT) {
            int k = i / BN, c = i % BN;
            Bs[k][c] = (k0 + k < K && col0 + c < N) ? B[(size_t)(k0 + k) * ldb + col0 + c] : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; k++) {
            float a[TM], b[TN];
#pragma unroll
            for (int i = 0; i < TM; i++) a[i] = As[k][tr * TM + i];
#pragma unroll
            for (int j = 0; j < TN; j++) b[j] = Bs[k][tc + j * (BN / TN)];
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++) acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; i++) {
        int r = row0 + tr * TM + i;
        if (r >= M) break;
        for (int j = 0; j < TN; j++) {
            int c = col0 + tc + j * (BN / TN);
            if (c < N) {
                float *p = C + (size_t)r * ldc + c;
                *p = alpha * acc[i][j] + beta * *p;
            }
        }
    }
}

// --- in-place transpose of a square matrix, the block swaps a tile with its mirror ---------------------
#define TDIM 32
#define TROWS 8
__global__ void transposeInPlace(double *m, int n)
{
    __shared__ double upper[TDIM][TDIM + 1];
    __shared__ double lower[TDIM][TDIM + 1];
    if (blockIdx.y > blockIdx.x) return;
    const int xu = blockIdx.x * TDIM + threadIdx.x, yu = blockIdx.y * TDIM + threadIdx.y;
    const int xl = blockIdx.y * TDIM + threadIdx.x, yl = blockIdx.x * TDIM + threadIdx.y;
    for (int j = 0; j < TDIM; j += TROWS) {
        if (xu < n && yu + j < n) upper[threadIdx.y + j][threadIdx.x] = m[(size_t)(yu + j) * n + xu];
        if (xl < n && yl + j < n) lower[threadIdx.y + j][threadIdx.x] = m[(size_t)(yl + j) * n + xl];
    }
    __syncthreads();
    for (int j = 0; j < TDIM; j += TROWS) {
        if (xl < n && yl + j < n) m[(size_t)(yl + j) * n + xl] = upper[threadIdx.x][threadIdx.y + j];
        if (blockIdx.x != blockIdx.y && xu < n && yu + j < n) m[(size_t)(yu + j) * n + xu] = lower[threadIdx.x][threadIdx.y + j];
    }
}

// --- batched Cholesky, run-time order, packed lower triangle in dynamic shared memory -------------------
__device__ __forceinline__ int tri(int i, int j) { return i * (i + 1) / 2 + j; }

template <typename T>
__global__ void choleskyPacked(T *a, int n, int batch)
{
    extern __shared__ __align__(16) unsigned char smem_raw[];
    T *L = reinterpret_cast<T *>(smem_raw);
    for (int b = blockIdx.x; b < batch; b += gridDim.x) {
        T *src = a + (size_t)b * n * n;
        for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
            int r = i / n, c = i % n;
            if (c <= r) L[tri(r, c)] = src[i] * T(0.01) + (r == c ? T(n) : T(0));
        }
        __syncthreads();
        for (int k = 0; k < n; k++) {
            if (threadIdx.x == 0) L[tri(k, k)] = sqrt(L[tri(k, k)]);
            __syncthreads();
            T inv = T(1) / L[tri(k, k)];
            for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) L[tri(i, k)] *= inv;
            __syncthreads();
            int m = n - k - 1;
            for (int e = threadIdx.x; e < m * m; e += blockDim.x) {
                int i = k + 1 + e / m, j = k + 1 + e % m;
                if (j <= i) L[tri(i, j)] -= L[tri(i, k)] * L[tri(j, k)];
            }
            __syncthreads();
        }
        for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
            int r = i / n, c = i % n;
            src[i] = c <= r ? L[tri(r, c)] : T(0);
        }
        __syncthreads();
    }
}

// --- one small system a thread, partial pivoting through a private row permutation -----------------------
template <int N>
__global__ void luSolveSmall(const float *__restrict__ A, const float *__restrict__ b, float *__restrict__ x, unsigned count)
{
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count) return;
    float m[N][N + 1];
    int piv[N];
    for (int r = 0; r < N; r++) {
        for (int c = 0; c < N; c++) m[r][c] = A[(size_t)(r * N + c) * count + id] + ((r * 3 + 2) % N == c ? 20.f : 0.f);
        m[r][N] = b[(size_t)r * count + id];
        piv[r] = r;
    }
    for (int k = 0; k < N; k++) {
        int best = k;
        float big = fabsf(m[piv[k]][k]);
        for (int r = k + 1; r < N; r++) {
            float v = fabsf(m[piv[r]][k]);
            if (v > big) { big = v; best = r; }
        }
        int t = piv[k]; piv[k] = piv[best]; piv[best] = t;
        const float *prow = m[piv[k]];
        for (int r = k + 1; r < N; r++) {
            float *row = m[piv[r]];
            float f = row[k] / prow[k];
            for (int c = k + 1; c <= N; c++) row[c] -= f * prow[c];
        }
    }
    float sol[N];
    for (int k = N - 1; k >= 0; k--) {
        float s = m[piv[k]][N];
        for (int c = k + 1; c < N; c++) s -= m[piv[k]][c] * sol[c];
        sol[k] = s / m[piv[k]][k];
    }
    for (int k = 0; k < N; k++) x[(size_t)k * count + id] = sol[k];
}

// --- CSR-stream SpMV: products of a block of rows staged in shared memory, rows summed afterwards ---------
enum { STREAM_NNZ = 1024 };
__global__ void spmvCsrStream(const int *rowPtr, const int *col, const float *val, const int *rowBlocks, const float *x, float *y)
{
    __shared__ float prod[STREAM_NNZ];
    const int r0 = rowBlocks[blockIdx.x], r1 = rowBlocks[blockIdx.x + 1];
    const int b = rowPtr[r0], e = rowPtr[r1];
    if (e - b <= STREAM_NNZ) {
        for (int i = threadIdx.x; i < e - b; i += blockDim.x) prod[i] = val[b + i] * x[col[b + i]];
        __syncthreads();
        for (int r = r0 + threadIdx.x; r < r1; r += blockDim.x) {
            float s = 0.f;
            for (int i = rowPtr[r] - b; i < rowPtr[r + 1] - b; i++) s += prod[i];
            y[r] = s;
        }
    } else {                                     // a single long row
        float s = 0.f;
        for (int i = b + threadIdx.x; i < e; i += blockDim.x) s += val[i] * x[col[i]];
        prod[threadIdx.x] = s;
        __syncthreads();
        for (int h = blockDim.x >> 1; h; h >>= 1) {
            if (threadIdx.x < h) prod[threadIdx.x] += prod[threadIdx.x + h];
            __syncthreads();
        }
        if (threadIdx.x == 0) y[r0] = prod[0];
    }
}

// --- Gram matrix G = A^T A, upper tile pairs decoded from a linear block index ------------------------------
__global__ void gramUpper(const float *A, float *G, int rows, int cols, int tilesPerSide)
{
    __shared__ float P[16][17], Q[16][17];
    int lin = blockIdx.x, ti = 0;
    while (lin >= tilesPerSide - ti) { lin -= tilesPerSide - ti; ++ti; }
    const int tj = ti + lin;
    const int ci = ti * 16, cj = tj * 16;
    float s = 0.f, comp = 0.f;                    // Kahan
    for (int r = 0; r < rows; r += 16) {
        bool rin = r + (int)threadIdx.y < rows;
        P[threadIdx.y][threadIdx.x] = rin && ci + (int)threadIdx.x < cols ? A[(size_t)(r + threadIdx.y) * cols + ci + threadIdx.x] : 0.f;
        Q[threadIdx.y][threadIdx.x] = rin && cj + (int)threadIdx.x < cols ? A[(size_t)(r + threadIdx.y) * cols + cj + threadIdx.x] : 0.f;
        __syncthreads();
        for (int k = 0; k < 16; k++) {
            float y = __fsub_rn(__fmul_rn(P[k][threadIdx.y], Q[k][threadIdx.x]), comp);
            float t = __fadd_rn(s, y);
            comp = __fsub_rn(__fsub_rn(t, s), y);
            s = t;
        }
        __syncthreads();
    }
    int gi = ci + threadIdx.y, gj = cj + threadIdx.x;
    if (gi < cols && gj < cols) {
        G[(size_t)gi * cols + gj] = s;
        if (ti != tj) G[(size_t)gj * cols + gi] = s;
    }
}

// --- triangular solve with many right-hand sides, diagonal block in shared, column of X private ---------------
template <int NB>
__global__ void trsmLowerLeft(const double *L, int ldl, double *B, int nrhs, bool unit)
{
    __shared__ double l[NB * NB];
    for (int i = threadIdx.x; i < NB * NB; i += blockDim.x) {
        int r = i / NB, c = i - r * NB;
        double v = L[r * ldl + c];
        l[i] = r == c ? 1.0 / (8.0 + v) : 0.05 * v;
    }
    __syncthreads();
    int col = blockDim.x * blockIdx.x + threadIdx.x;
    if (col >= nrhs) return;
    double x[NB];
    double *b = B + col;
#pragma unroll
    for (int i = 0; i < NB; i++) x[i] = b[(size_t)i * nrhs];
    for (int k = 0; k < NB; k++) {
        double xk = unit ? x[k] : x[k] * l[k * NB + k];
        x[k] = xk;
        for (int i = k + 1; i < NB; i++) x[i] -= l[i * NB + k] * xk;
    }
    for (int i = 0; i < NB; i++) b[(size_t)i * nrhs] = x[i];
}

// --- eigenvalues of symmetric 4x4 matrices, cyclic Jacobi that always takes the largest off-diagonal -----------
__global__ void jacobiEig4(const float *sym, float *eval, float *evec, size_t n)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float a[4][4], v[4][4];
        int k = 0;
        for (int r = 0; r < 4; r++)
            for (int c = r; c < 4; c++, k++) {
                a[r][c] = a[c][r] = sym[i * 10 + k];
                v[r][c] = v[c][r] = r == c;
            }
        for (int it = 0; it < 24; it++) {
            int p = 0, q = 1;
            for (int r = 0; r < 3; r++)
                for (int c = r + 1; c < 4; c++)
                    if (fabsf(a[r][c]) > fabsf(a[p][q])) { p = r; q = c; }
            if (fabsf(a[p][q]) < 1e-6f) break;
            float th = 0.5f * (a[q][q] - a[p][p]) / a[p][q];
            float t = copysignf(1.f, th) / (fabsf(th) + sqrtf(th * th + 1.f));
            float c = rsqrtf(t * t + 1.f), s = t * c;
            for (int j = 0; j < 4; j++) {
                float x = a[p][j], y = a[q][j];
                a[p][j] = c * x - s * y;
                a[q][j] = s * x + c * y;
            }
            for (int j = 0; j < 4; j++) {
                float x = a[j][p], y = a[j][q];
                a[j][p] = c * x - s * y;
                a[j][q] = s * x + c * y;
                x = v[j][p]; y = v[j][q];
                v[j][p] = c * x - s * y;
                v[j][q] = s * x + c * y;
            }
        }
        int ord[4] = {0, 1, 2, 3};
        for (int x = 1; x < 4; x++)
            for (int y = x; y > 0 && a[ord[y]][ord[y]] > a[ord[y - 1]][ord[y - 1]]; y--) {
                int t = ord[y]; ord[y] = ord[y - 1]; ord[y - 1] = t;
            }
        for (int x = 0; x < 4; x++) {
            eval[i * 4 + x] = a[ord[x]][ord[x]];
            evec[i * 4 + x] = v[x][ord[0]];
        }
    }
}

int main()
{
    {
        int M = 1003, N = 1150, K = 517;
        float *a = mk<float>((size_t)M * K), *b = mk<float>((size_t)K * N), *c = mk<float>((size_t)M * N);
        sgemmBlocked<64, 64, 16, 4, 8><<<dim3((N + 63) / 64, (M + 63) / 64), 128>>>(M, N, K, 0.5f, a, K, b, N, 0.25f, c, N);
        show("sgemmBlocked", c, (size_t)M * N * 4);
        cudaFree(a); cudaFree(b); cudaFree(c);
    }
    {
        int n = 3083, t = (n + TDIM - 1) / TDIM;
        double *m = mk<double>((size_t)n * n);
        transposeInPlace<<<dim3(t, t), dim3(TDIM, TROWS)>>>(m, n);
        show("transposeInPlace", m, (size_t)n * n * 8);
        cudaFree(m);
    }
    {
        int n = 41, batch = 5001;
        float *a = mk<float>((size_t)n * n * batch);
        choleskyPacked<float><<<1800, 96, n * (n + 1) / 2 * sizeof(float)>>>(a, n, batch);
        show("choleskyPacked", a, (size_t)n * n * batch * 4);
        cudaFree(a);
        int n2 = 22; double *d = mk<double>((size_t)n2 * n2 * batch);
        choleskyPacked<double><<<batch, 64, n2 * (n2 + 1) / 2 * sizeof(double)>>>(d, n2, batch);
        show("choleskyPacked", d, (size_t)n2 * n2 * batch * 8);
        cudaFree(d);
    }
    {
        const int N = 7; unsigned cnt = 300007;
        float *a = mk<float>((size_t)N * N * cnt), *b = mk<float>((size_t)N * cnt), *x = mk<float>((size_t)N * cnt);
        luSolveSmall<N><<<(cnt + 191) / 192, 192>>>(a, b, x, cnt);
        show("luSolveSmall", x, (size_t)N * cnt * 4);
        cudaFree(a); cudaFree(b); cudaFree(x);
    }
    {
        int rows = 600001, ncol = 500000;
        int *rp = (int *)malloc((rows + 1) * 4), *rb = (int *)malloc((rows + 1) * 4);
        rp[0] = 0;
        for (int r = 0; r < rows; r++) rp[r + 1] = rp[r] + (r % 9973 == 5 ? 5000 : (int)((r * 2654435761u) >> 28));
        int nb = 0; rb[0] = 0;
        for (int r = 0; r < rows;) {
            int s = r;
            while (r < rows && rp[r + 1] - rp[s] <= STREAM_NNZ && r - s < 512) r++;
            if (r == s) r++;
            rb[++nb] = r;
        }
        int nnz = rp[rows];
        int *col = (int *)malloc((size_t)nnz * 4);
        for (int i = 0; i < nnz; i++) col[i] = (int)((i * 40503ull + i / 7) % ncol);
        int *drp, *drb, *dcol;
        cudaMalloc(&drp, (rows + 1) * 4); cudaMalloc(&drb, (nb + 1) * 4); cudaMalloc(&dcol, (size_t)nnz * 4);
        cudaMemcpy(drp, rp, (rows + 1) * 4, cudaMemcpyHostToDevice);
        cudaMemcpy(drb, rb, (nb + 1) * 4, cudaMemcpyHostToDevice);
        cudaMemcpy(dcol, col, (size_t)nnz * 4, cudaMemcpyHostToDevice);
        free(rp); free(rb); free(col);
        float *v = mk<float>(nnz), *x = mk<float>(ncol), *y = mk<float>(rows);
        spmvCsrStream<<<nb, 128>>>(drp, dcol, v, drb, x, y);
        show("spmvCsrStream", y, (size_t)rows * 4);
        cudaFree(v); cudaFree(x); cudaFree(y); cudaFree(drp); cudaFree(drb); cudaFree(dcol);
    }
    {
        int rows = 1501, cols = 613, t = (cols + 15) / 16;
        float *a = mk<float>((size_t)rows * cols), *g = mk<float>((size_t)cols * cols);
        gramUpper<<<t * (t + 1) / 2, dim3(16, 16)>>>(a, g, rows, cols, t);
        show("gramUpper", g, (size_t)cols * cols * 4);
        cudaFree(a); cudaFree(g);
    }
    {
        int nrhs = 200003;
        double *l = mk<double>(24 * 30), *b = mk<double>((size_t)24 * nrhs);
        trsmLowerLeft<24><<<(nrhs + 127) / 128, 128>>>(l, 30, b, nrhs, false);
        show("trsmLowerLeft", b, (size_t)24 * nrhs * 8);
        cudaFree(l); cudaFree(b);
    }
    {
        size_t n = 400009;
        float *s = mk<float>(n * 10), *e = mk<float>(n * 4), *v = mk<float>(n * 4);
        jacobiEig4<<<1000, 128>>>(s, e, v, n);
        show("jacobiEig4", e, n * 16);
        show("jacobiEig4", v, n * 16);
    }
    return 0;
}
