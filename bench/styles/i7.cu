#include "shown.h"
#include <cmath>

// Batched small dense linear algebra.

//////////////////////////// per-thread Cholesky + solve, N fixed
template <int N>
__device__ void chol(float (&L)[N][N])
{
    for (int j = 0; j < N; ++j) {
        float d = L[j][j];
        for (int k = 0; k < j; ++k) d -= L[j][k] * L[j][k];
        d = sqrtf(d);
        L[j][j] = d;
        for (int i = j + 1; i < N; ++i) {
            float s = L[i][j];
            for (int k = 0; k < j; ++k) s -= L[i][k] * L[j][k];
            L[i][j] = s / d;
        }
    }
}
template <int N>
__global__ void CholSolve(const float *A, const float *b, float *x, int batch)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= batch) return;
    float L[N][N], y[N];
    for (int i = 0; i < N; ++i)
        for (int j = 0; j <= i; ++j) L[i][j] = A[(size_t)(i * N + j) * batch + t] + (i == j ? 13.f * N : 0.f);
    chol<N>(L);
    for (int i = 0; i < N; ++i) {
        float s = b[(size_t)i * batch + t];
        for (int k = 0; k < i; ++k) s -= L[i][k] * y[k];
        y[i] = s / L[i][i];
    }
    for (int i = N - 1; i >= 0; --i) {
        float s = y[i];
        for (int k = i + 1; k < N; ++k) s -= L[k][i] * y[k];
        y[i] = s / L[i][i];
        x[(size_t)i * batch + t] = y[i];
    }
}

//////////////////////////// LU with partial pivoting, one warp per matrix in shared memory
#define LU_N 24
#define LU_WARPS 4
__global__ void LuWarp(const double *A, double *LU, int *piv, int batch)
{
    __shared__ double sm[LU_WARPS][LU_N][LU_N + 1];
    __shared__ int sp[LU_WARPS][LU_N];
    int w = threadIdx.y, lane = threadIdx.x;
    int id = blockIdx.x * LU_WARPS + w;
    if (id >= batch) return;                 // whole warp leaves; only __syncwarp below
    double (*m)[LU_N + 1] = sm[w];
    const double *src = A + (size_t)id * LU_N * LU_N;
    for (int e = lane; e < LU_N * LU_N; e += 32) m[e / LU_N][e % LU_N] = src[e] + (e % 29) * 0.37;
    __syncwarp();
    for (int k = 0; k < LU_N; ++k) {
        int p = k;
        double big = fabs(m[k][k]);
        for (int i = k + 1; i < LU_N; ++i)
            if (fabs(m[i][k]) > big) { big = fabs(m[i][k]); p = i; }
        __syncwarp();
        if (p != k)
            for (int j = lane; j < LU_N; j += 32) { double t = m[k][j]; m[k][j] = m[p][j]; m[p][j] = t; }
        if (lane == 0) sp[w][k] = p;
        __syncwarp();
        double inv = 1.0 / (m[k][k] + 1e-30);
        for (int i = k + 1 + lane; i < LU_N; i += 32) {
            double f = m[i][k] * inv;
            m[i][k] = f;
            for (int j = k + 1; j < LU_N; ++j) m[i][j] -= f * m[k][j];
        }
        __syncwarp();
    }
    for (int e = lane; e < LU_N * LU_N; e += 32) LU[(size_t)id * LU_N * LU_N + e] = m[e / LU_N][e % LU_N];
    if (lane < LU_N) piv[id * LU_N + lane] = sp[w][lane];
}

//////////////////////////// Jacobi eigenvalues of symmetric 4x4, private arrays
__global__ void Eig4(const float *a, float4 *ev, int n, int sweeps)
{
    int t = blockDim.x * blockIdx.x + threadIdx.x;
    if (t < n) {
        float m[4][4];
        int c = 0;
        for (int i = 0; i < 4; ++i)
            for (int j = i; j < 4; ++j) m[i][j] = m[j][i] = a[(size_t)(c++) * n + t] - 3.0f * (i != j);
        for (int s = 0; s < sweeps; ++s)
            for (int p = 0; p < 3; ++p)
                for (int q = p + 1; q < 4; ++q) {
                    float apq = m[p][q];
                    if (fabsf(apq) < 1e-9f) continue;
                    float th = (m[q][q] - m[p][p]) / (2.f * apq);
                    float tt = copysignf(1.f, th) / (fabsf(th) + sqrtf(th * th + 1.f));
                    float cs = rsqrtf(tt * tt + 1.f), sn = tt * cs;
                    for (int k = 0; k < 4; ++k) {
                        float x = m[k][p], y = m[k][q];
                        m[k][p] = cs * x - sn * y;
                        m[k][q] = sn * x + cs * y;
                    }
                    for (int k = 0; k < 4; ++k) {
                        float x = m[p][k], y = m[q][k];
                        m[p][k] = cs * x - sn * y;
                        m[q][k] = sn * x + cs * y;
                    }
                }
        ev[t] = make_float4(m[0][0], m[1][1], m[2][2], m[3][3]);
    }
}

//////////////////////////// Householder QR of a tall panel, one block per panel
template <int M, int N>
__global__ void QrPanel(const float *A, float *R, float *tau)
{
    __shared__ float p[N][M];      // column major
    __shared__ float red[M];
    __shared__ float beta;
    const int r = threadIdx.x;
    const float *src = A + (size_t)blockIdx.x * M * N;
    for (int c = 0; c < N; ++c) p[c][r] = src[c * M + r] + (r == c);
    for (int k = 0; k < N; ++k) {
        __syncthreads();
        red[r] = r >= k ? p[k][r] * p[k][r] : 0.f;
        __syncthreads();
        for (int s = M / 2; s; s >>= 1) {
            if (r < s) red[r] += red[r + s];
            __syncthreads();
        }
        float nrm = sqrtf(red[0]), akk = p[k][k];
        float alpha = akk > 0 ? -nrm : nrm;
        __syncthreads();
        if (r == k) {
            float v0 = akk - alpha;
            beta = v0 != 0.f ? -v0 / alpha : 0.f;
            red[0] = v0 != 0.f ? 1.f / v0 : 0.f;
            tau[blockIdx.x * N + k] = beta;
        }
        __syncthreads();
        float sc = red[0];
        if (r > k) p[k][r] *= sc;
        if (r == k) p[k][k] = alpha;
        __syncthreads();
        // apply to the trailing columns, a column per thread
        if (r > k && r < N) {
            float d = p[r][k];
            for (int i = k + 1; i < M; ++i) d += p[k][i] * p[r][i];
            d *= beta;
            p[r][k] -= d;
            for (int i = k + 1; i < M; ++i) p[r][i] -= d * p[k][i];
        }
    }
    __syncthreads();
    for (int c = 0; c < N; ++c) R[(size_t)blockIdx.x * M * N + c * M + r] = p[c][r];
}

//////////////////////////// Gauss-Jordan inverse: augmented matrix in dynamic shared memory, 2D block
__global__ void GjInverse(const float *A, float *Inv, int n)
{
    extern __shared__ float aug[];           // n x 2n, then n factors
    float *fac = aug + n * 2 * n;
    int x = threadIdx.x, y = threadIdx.y, w = 2 * n;
    size_t o = (size_t)blockIdx.x * n * n;
    aug[y * w + x] = x < n ? A[o + y * n + x] + (x == y ? 14.f * n : 0.f) : (x - n == y ? 1.f : 0.f);
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        float piv = aug[k * w + k];
        __syncthreads();
        if (y == k) aug[k * w + x] /= piv;
        if (x == 0) fac[y] = y == k ? 0.f : aug[y * w + k];
        __syncthreads();
        float v = aug[y * w + x] - fac[y] * aug[k * w + x];
        __syncthreads();
        aug[y * w + x] = v;
        __syncthreads();
    }
    if (x >= n) Inv[o + y * n + x - n] = aug[y * w + x];
}

//////////////////////////// block tridiagonal, 3x3 blocks, one chain per thread
struct M3 { float e[3][3]; };
struct V3 { float e[3]; };
__device__ M3 mul(const M3 &a, const M3 &b)
{
    M3 r;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) r.e[i][j] = a.e[i][0] * b.e[0][j] + a.e[i][1] * b.e[1][j] + a.e[i][2] * b.e[2][j];
    return r;
}
__device__ V3 mul(const M3 &a, const V3 &b)
{
    V3 r;
    for (int i = 0; i < 3; ++i) r.e[i] = a.e[i][0] * b.e[0] + a.e[i][1] * b.e[1] + a.e[i][2] * b.e[2];
    return r;
}
__device__ M3 inverse(const M3 &m)
{
    M3 r;
    float det = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            r.e[j][i] = m.e[(i + 1) % 3][(j + 1) % 3] * m.e[(i + 2) % 3][(j + 2) % 3] - m.e[(i + 1) % 3][(j + 2) % 3] * m.e[(i + 2) % 3][(j + 1) % 3];
    for (int j = 0; j < 3; ++j) det += m.e[0][j] * r.e[j][0];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) r.e[i][j] /= det;
    return r;
}
template <int LEN>
__global__ void BlockTridiag(const float *diag, const float *rhs, float *x, int chains)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chains) return;
    M3 g[LEN];
    V3 y[LEN];
    for (int i = 0; i < LEN; ++i) {
        M3 d;
        V3 b;
        for (int r = 0; r < 3; ++r) {
            for (int s = 0; s < 3; ++s) d.e[r][s] = diag[((size_t)i * 9 + r * 3 + s) * chains + c] + (r == s ? 40.f : 0.f);
            b.e[r] = rhs[((size_t)i * 3 + r) * chains + c];
        }
        if (i) {        // lower block is -I
            for (int r = 0; r < 3; ++r) {
                for (int s = 0; s < 3; ++s) d.e[r][s] += g[i - 1].e[r][s];
                b.e[r] += y[i - 1].e[r];
            }
        }
        M3 inv = inverse(d), up = {{{-1, .5f, 0}, {0, -1, .5f}, {.5f, 0, -1}}};
        g[i] = mul(inv, up);
        y[i] = mul(inv, b);
    }
    V3 last = y[LEN - 1];
    for (int i = LEN - 1; i >= 0; --i) {
        if (i < LEN - 1) {
            V3 t = mul(g[i], last);
            for (int r = 0; r < 3; ++r) last.e[r] = y[i].e[r] - t.e[r];
        }
        for (int r = 0; r < 3; ++r) x[((size_t)i * 3 + r) * chains + c] = last.e[r];
    }
}

//////////////////////////// triangular solve with many right hand sides
template <int NB>
__global__ void TrsmLower(const float *L, const float *B, float *X, int nrhs)
{
    __shared__ float l[NB][NB];
    for (int e = threadIdx.x; e < NB * NB; e += blockDim.x) l[e / NB][e % NB] = L[e] * 0.03f + (e / NB == e % NB ? 2.f : 0.f);
    __syncthreads();
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= nrhs) return;
    float x[NB];
#pragma unroll
    for (int i = 0; i < NB; ++i) {
        float s = B[(size_t)i * nrhs + c];
#pragma unroll
        for (int k = 0; k < i; ++k) s -= l[i][k] * x[k];
        x[i] = s / l[i][i];
    }
#pragma unroll
    for (int i = 0; i < NB; ++i) X[(size_t)i * nrhs + c] = x[i];
}

int main()
{
    {
        int nb = 200003;
        float *A = mk<float>(36ull * nb), *b = mk<float>(6ull * nb), *x = mk<float>(6ull * nb);
        CholSolve<6><<<(nb + 127) / 128, 128>>>(A, b, x, nb);
        show("CholSolve", x, 24ull * nb);
    }
    {
        int nb = 9001;
        size_t n = (size_t)nb * LU_N * LU_N;
        double *A = mk<double>(n), *o = mk<double>(n);
        int *p = mk<int>(nb * LU_N);
        LuWarp<<<(nb + LU_WARPS - 1) / LU_WARPS, dim3(32, LU_WARPS)>>>(A, o, p, nb);
        show("LuWarp", o, n * 8);
        show("LuWarp_piv", p, 4ull * nb * LU_N);
    }
    {
        int n = 300000;
        float *a = mk<float>(10ull * n), *e = mk<float>(4ull * n);
        Eig4<<<(n + 191) / 192, 192>>>(a, (float4 *)e, n, 5);
        show("Eig4", e, 16ull * n);
    }
    {
        int np = 3000;
        float *a = mk<float>((size_t)np * 128 * 16), *r = mk<float>((size_t)np * 128 * 16), *t = mk<float>(np * 16);
        QrPanel<128, 16><<<np, 128>>>(a, r, t);
        show("QrPanel", r, 4ull * np * 128 * 16);
        show("QrPanel_tau", t, 64ull * np);
    }
    {
        int n = 14, nb = 8000;
        float *a = mk<float>((size_t)nb * n * n), *o = mk<float>((size_t)nb * n * n);
        GjInverse<<<nb, dim3(2 * n, n), (2 * n * n + n) * 4>>>(a, o, n);
        show("GjInverse", o, 4ull * nb * n * n);
    }
    {
        int ch = 40000;
        float *d = mk<float>(9ull * 24 * ch), *r = mk<float>(3ull * 24 * ch), *x = mk<float>(3ull * 24 * ch);
        BlockTridiag<24><<<(ch + 63) / 64, 64>>>(d, r, x, ch);
        show("BlockTridiag", x, 12ull * 24 * ch);
    }
    {
        int n = 500009;
        float *L = mk<float>(1024), *B = mk<float>(32ull * n), *X = mk<float>(32ull * n);
        TrsmLower<32><<<(n + 255) / 256, 256>>>(L, B, X, n);
        show("TrsmLower", X, 128ull * n);
    }
    return 0;
}
