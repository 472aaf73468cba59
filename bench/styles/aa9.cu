/* batched and tiled dense linear algebra */
#include "shown.h"

#define SWAP(T, a, b) do { T t_ = (a); (a) = (b); (b) = t_; } while (0)

/* ===== modified Gram-Schmidt, one M x N matrix per block ===== */
template <int M, int N>
__global__ void mgs_qr_batched(const float *A, float *Q, float *R)
{
    __shared__ float q[N][M + 1];       // by columns
    __shared__ float r[N][N];
    __shared__ float nrm;
    const int t = threadIdx.x;
    const float *a = A + (size_t)blockIdx.x * M * N;
    for (int k = t; k < M * N; k += blockDim.x) {
        int row = k / N, col = k % N;
        q[col][row] = a[k] + (row == col ? 20.f : 0.f);
    }
    for (int k = t; k < N * N; k += blockDim.x) r[k / N][k % N] = 0.f;
    __syncthreads();
    for (int k = 0; k < N; k++) {
        if (t < 32) {
            float s = 0.f;
            for (int i = t; i < M; i += 32) s += q[k][i] * q[k][i];
            for (int o = 16; o; o >>= 1) s += __shfl_down_sync(0xffffffffu, s, o);
            if (t == 0) { nrm = sqrtf(s); r[k][k] = nrm; }
        }
        __syncthreads();
        if (t < M) q[k][t] /= nrm;
        __syncthreads();
        if (t > k && t < N) {
            float d = 0.f;
            for (int i = 0; i < M; i++) d += q[k][i] * q[t][i];
            r[k][t] = d;
        }
        __syncthreads();
        for (int e = t; e < (N - 1 - k) * M; e += blockDim.x) {
            int j = k + 1 + e / M, i = e % M;
            q[j][i] -= r[k][j] * q[k][i];
        }
        __syncthreads();
    }
    for (int k = t; k < M * N; k += blockDim.x) Q[(size_t)blockIdx.x * M * N + k] = q[k % N][k / N];
    for (int k = t; k < N * N; k += blockDim.x) R[(size_t)blockIdx.x * N * N + k] = r[k / N][k % N];
}

/* ===== eigenvalues of symmetric 4x4 matrices by cyclic Jacobi, one per thread ===== */
__global__ void jacobi_eigvals_sym4(const double *packed, double *w, int n)
{
    int id = threadIdx.x + blockDim.x * blockIdx.x;
    if (id >= n) return;
    double a[4][4];
    int k = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j <= i; j++, k++) a[i][j] = a[j][i] = packed[(size_t)k * n + id];
#pragma unroll 1
    for (int sweep = 0; sweep < 5; sweep++)
#pragma unroll 1
        for (int p = 0; p < 3; p++)
#pragma unroll 1
            for (int q = p + 1; q < 4; q++) {
                if (fabs(a[p][q]) < 1e-14) continue;
                double th = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                double t = (th >= 0 ? 1.0 : -1.0) / (fabs(th) + sqrt(th * th + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int m = 0; m < 4; m++) {
                    double x = a[m][p], y = a[m][q];
                    a[m][p] = c * x - s * y;
                    a[m][q] = s * x + c * y;
                }
                for (int m = 0; m < 4; m++) {
                    double x = a[p][m], y = a[q][m];
                    a[p][m] = c * x - s * y;
                    a[q][m] = s * x + c * y;
                }
            }
    double ev[4] = {a[0][0], a[1][1], a[2][2], a[3][3]};
    for (int i = 1; i < 4; i++)
        for (int j = i; j > 0 && ev[j - 1] > ev[j]; j--) SWAP(double, ev[j - 1], ev[j]);
    for (int i = 0; i < 4; i++) w[(size_t)i * n + id] = ev[i];
}

/* ===== C = alpha A A^T + beta C, lower triangle, 32x32 tile, 2x2 per thread ===== */
__global__ void dsyrk_lower_tile32(const double *__restrict__ A, double *__restrict__ C, int n, int k, int lda, double alpha, double beta)
{
    __shared__ double As[8][33];
    __shared__ double Bs[8][33];
    if (blockIdx.x > blockIdx.y) return;
    const int tid = threadIdx.y * 16 + threadIdx.x;
    const int lr = tid >> 3, lk = tid & 7;              // 32 rows x 8 k
    const int r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;
    double acc[2][2] = {{0, 0}, {0, 0}};
    for (int kk = 0; kk < k; kk += 8) {
        const bool kin = kk + lk < k;
        As[lk][lr] = (kin && r0 + lr < n) ? A[(size_t)(r0 + lr) * lda + kk + lk] : 0.0;
        Bs[lk][lr] = (kin && c0 + lr < n) ? A[(size_t)(c0 + lr) * lda + kk + lk] : 0.0;
        __syncthreads();
#pragma unroll
        for (int p = 0; p < 8; p++) {
            double a0 = As[p][threadIdx.y], a1 = As[p][threadIdx.y + 16];
            double b0 = Bs[p][threadIdx.x], b1 = Bs[p][threadIdx.x + 16];
            acc[0][0] += a0 * b0; acc[0][1] += a0 * b1;
            acc[1][0] += a1 * b0; acc[1][1] += a1 * b1;
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            int r = r0 + threadIdx.y + 16 * i, c = c0 + threadIdx.x + 16 * j;
            if (r < n && c <= r) C[(size_t)r * n + c] = alpha * acc[i][j] + beta * C[(size_t)r * n + c];
        }
}

/* ===== X = L^-1 B, L 32x32 in shared memory, a right-hand side per thread ===== */
#define NB 32
__global__ void strsm_left_lower_panel(const float *Lbatch, float *Bbatch, int ncols)
{
    __shared__ float L[NB][NB];
    __shared__ float invd[NB];
    const float *Lg = Lbatch + (size_t)blockIdx.y * NB * NB;
    float *B = Bbatch + (size_t)blockIdx.y * NB * ncols;
    for (int i = threadIdx.x; i < NB * NB; i += blockDim.x) L[i / NB][i % NB] = Lg[i] * 0.02f;
    if (threadIdx.x < NB) invd[threadIdx.x] = 1.0f / (Lg[threadIdx.x * (NB + 1)] + 1.0f);
    __syncthreads();
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col < ncols) {
        float x[NB];
#pragma unroll
        for (int i = 0; i < NB; i++) {
            float s = B[(size_t)i * ncols + col];
#pragma unroll
            for (int j = 0; j < i; j++) s -= L[i][j] * x[j];
            x[i] = s * invd[i];
        }
#pragma unroll
        for (int i = 0; i < NB; i++) B[(size_t)i * ncols + col] = x[i];
    }
}

/* ===== small solves with partial pivoting, everything in the thread ===== */
template <typename T, int N>
__global__ void gesv_private_pivot(const T *A, const T *rhs, T *X, int batch)
{
    const int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b < batch) {
        T m[N][N + 1];
        int perm[N];
        for (int i = 0; i < N; ++i) {
            perm[i] = i;
            for (int j = 0; j < N; ++j) m[i][j] = A[(size_t)(i * N + j) * batch + b] + (i + j == N - 1 ? T(25) : T(0));
            m[i][N] = rhs[(size_t)i * batch + b];
        }
        for (int c = 0; c < N; ++c) {
            int best = c;
            for (int i = c + 1; i < N; ++i)
                if (fabs(m[perm[i]][c]) > fabs(m[perm[best]][c])) best = i;
            int t = perm[c]; perm[c] = perm[best]; perm[best] = t;
            const int pr = perm[c];
            for (int i = c + 1; i < N; ++i) {
                const int ir = perm[i];
                T f = m[ir][c] / m[pr][c];
                for (int j = c + 1; j <= N; ++j) m[ir][j] -= f * m[pr][j];
            }
        }
        T x[N];
        for (int i = N - 1; i >= 0; --i) {
            T s = m[perm[i]][N];
            for (int j = i + 1; j < N; ++j) s -= m[perm[i]][j] * x[j];
            x[i] = s / m[perm[i]][i];
            X[(size_t)i * batch + b] = x[i];
        }
    }
}

/* ===== y = A x, row-major, x in shared memory by chunks, one warp per row ===== */
__global__ void sgemv_rowwarp_float4(const float4 *A, const float4 *x, float *y, int rows, int cols4)
{
    __shared__ float4 xs[192];
    int lane = threadIdx.x & 31;
    int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    float sum = 0.f;
    for (int base = 0; base < cols4; base += 192) {
        int len = min(192, cols4 - base);
        __syncthreads();
        if (threadIdx.x < len) xs[threadIdx.x] = x[base + threadIdx.x];
        __syncthreads();
        if (row < rows)
            for (int i = lane; i < len; i += 32) {
                float4 a = __ldg(&A[(size_t)row * cols4 + base + i]), v = xs[i];
                sum += a.x * v.x + a.y * v.y + a.z * v.z + a.w * v.w;
            }
    }
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
    if (lane == 0 && row < rows) y[row] = sum;
}

/* ===== Gauss-Jordan inverse, n <= 24, augmented matrix in shared memory ===== */
#define GJ 24
__global__ void gauss_jordan_inverse24(const double *A, double *Ainv)
{
    __shared__ double aug[GJ][2 * GJ + 1];
    __shared__ double fac[GJ];
    __shared__ int piv;
    const int c = threadIdx.x, r0 = threadIdx.y;           // 48 x 6
    const double *a = A + (size_t)blockIdx.x * GJ * GJ;
    for (int r = r0; r < GJ; r += 6)
        aug[r][c] = c < GJ ? a[r * GJ + c] + ((r + 5) % GJ == c ? 90.0 : 0.0) : (c - GJ == r ? 1.0 : 0.0);
    __syncthreads();
    for (int k = 0; k < GJ; k++) {
        if (c == 0 && r0 == 0) {
            int p = k;
            for (int r = k + 1; r < GJ; r++)
                if (fabs(aug[r][k]) > fabs(aug[p][k])) p = r;
            piv = p;
        }
        __syncthreads();
        if (r0 == 0 && piv != k) {
            double t = aug[k][c];
            aug[k][c] = aug[piv][c];
            aug[piv][c] = t;
        }
        __syncthreads();
        if (r0 == 0 && c < GJ) fac[c] = aug[c][k];
        __syncthreads();
        double d = fac[k];
        if (r0 == 0) aug[k][c] /= d;
        __syncthreads();
        for (int r = r0; r < GJ; r += 6)
            if (r != k) aug[r][c] -= fac[r] * aug[k][c];
        __syncthreads();
    }
    if (c < GJ)
        for (int r = r0; r < GJ; r += 6) Ainv[(size_t)blockIdx.x * GJ * GJ + r * GJ + c] = aug[r][c + GJ];
}

/* ===== Cholesky of n x n (n at run time), lower storage, dynamic shared memory ===== */
__global__ void potrf_lower_dynamic(float *Abatch, int n, int ld, float shift)
{
    extern __shared__ float S[];
    const int p = n + 1, tid = threadIdx.x, nt = blockDim.x;
    float *A = Abatch + (size_t)blockIdx.x * n * ld;
#define S_(i, j) S[(i) * p + (j)]
    for (int e = tid; e < n * n; e += nt) {
        int i = e / n, j = e - i * n;
        S_(i, j) = j <= i ? A[i * ld + j] + (i == j ? shift : 0.f) : 0.f;
    }
    __syncthreads();
    for (int k = 0; k < n; k++) {
        if (tid == 0) S_(k, k) = sqrtf(S_(k, k));
        __syncthreads();
        for (int i = k + 1 + tid; i < n; i += nt) S_(i, k) /= S_(k, k);
        __syncthreads();
        const int m = n - k - 1;
        for (int e = tid; e < m * m; e += nt) {
            int i = k + 1 + e / m, j = k + 1 + e % m;
            if (j <= i) S_(i, j) -= S_(i, k) * S_(j, k);
        }
        __syncthreads();
    }
    for (int e = tid; e < n * n; e += nt) {
        int i = e / n, j = e - i * n;
        A[i * ld + j] = S_(i, j);
    }
#undef S_
}

int main(void)
{
    {
        const int M = 48, N = 12, batch = 12000;
        float *A = mk<float>((size_t)M * N * batch), *Q = mk<float>((size_t)M * N * batch), *R = mk<float>((size_t)N * N * batch);
        mgs_qr_batched<M, N><<<batch, 64>>>(A, Q, R);
        show("mgs_qr_batched", R, (size_t)N * N * batch * 4);
    }
    {
        int n = 700001;
        double *p = mk<double>((size_t)n * 10), *w = mk<double>((size_t)n * 4);
        jacobi_eigvals_sym4<<<(n + 127) / 128, 128>>>(p, w, n);
        show("jacobi_eigvals_sym4", w, (size_t)n * 32);
    }
    {
        int n = 2030, k = 500, lda = 512, t = (n + 31) / 32;
        double *A = mk<double>((size_t)n * lda), *C = mk<double>((size_t)n * n);
        dsyrk_lower_tile32<<<dim3(t, t), dim3(16, 16)>>>(A, C, n, k, lda, 0.5, 2.0);
        show("dsyrk_lower_tile32", C, (size_t)n * n * 8);
    }
    {
        int batch = 300, cols = 1000;
        float *L = mk<float>((size_t)batch * NB * NB), *B = mk<float>((size_t)batch * NB * cols);
        strsm_left_lower_panel<<<dim3((cols + 127) / 128, batch), 128>>>(L, B, cols);
        show("strsm_left_lower_panel", B, (size_t)batch * NB * cols * 4);
    }
    {
        int batch = 400000;
        float *A = mk<float>((size_t)36 * batch), *r = mk<float>((size_t)6 * batch), *X = mk<float>((size_t)6 * batch);
        gesv_private_pivot<float, 6><<<(batch + 255) / 256, 256>>>(A, r, X, batch);
        show("gesv_private_pivot", X, (size_t)6 * batch * 4);
    }
    {
        int rows = 9001, cols4 = 700;
        float4 *A = (float4 *)mk<float>((size_t)rows * cols4 * 4), *x = (float4 *)mk<float>(cols4 * 4);
        float *y = mk<float>(rows);
        sgemv_rowwarp_float4<<<(rows + 7) / 8, 256>>>(A, x, y, rows, cols4);
        show("sgemv_rowwarp_float4", y, rows * 4);
    }
    {
        int batch = 6000;
        double *A = mk<double>((size_t)batch * GJ * GJ), *I = mk<double>((size_t)batch * GJ * GJ);
        gauss_jordan_inverse24<<<batch, dim3(2 * GJ, 6)>>>(A, I);
        show("gauss_jordan_inverse24", I, (size_t)batch * GJ * GJ * 8);
    }
    {
        int n = 44, ld = 48, batch = 5000;
        float *A = mk<float>((size_t)batch * n * ld);
        potrf_lower_dynamic<<<batch, 96, n * (n + 1) * sizeof(float)>>>(A, n, ld, 600.f);
        show("potrf_lower_dynamic", A, (size_t)batch * n * ld * 4);
    }
    return 0;
}
