// j7: all pairs, correlations, small launches
#include "shown.h"
#include <cmath>

#define TS 16
static int up(int n, int t) { return (n + t - 1) / t; }

/* ------------------------------------------------------------ euclidean distances, upper triangle of blocks */
__global__ void pairwise_dist(const float *X, float *D, int n, int dim)
{
    if (blockIdx.y > blockIdx.x) return;
    __shared__ float xi[TS][TS + 1];
    __shared__ float xj[TS][TS + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int i = blockIdx.y * TS + ty;
    const int j = blockIdx.x * TS + tx;
    const int jl = blockIdx.x * TS + ty;
    float d = 0.0f;
    for (int k = 0; k < dim; k += TS) {
        if (i < n && k + tx < dim) xi[ty][tx] = X[(size_t)i * dim + k + tx];
        else                       xi[ty][tx] = 0.0f;
        if (jl < n && k + tx < dim) xj[ty][tx] = X[(size_t)jl * dim + k + tx];
        else                        xj[ty][tx] = 0.0f;
        __syncthreads();
        for (int q = 0; q < TS; q++) {
            float t = xi[ty][q] - xj[tx][q];
            d += t * t;
        }
        __syncthreads();
    }
    if (i < n && j < n && i <= j) {
        d = sqrtf(d);
        D[(size_t)i * n + j] = d;
        D[(size_t)j * n + i] = d;
    }
}

/* ------------------------------------------------------------ Pearson correlation; standardised while staged; a missing value counts zero */
template <class T, int W>
__global__ void pearson(const T *__restrict__ data, const T *__restrict__ mean, const T *__restrict__ var, T *__restrict__ R, size_t vars, size_t obs)
{
    if (blockIdx.x < blockIdx.y) return;
    __shared__ T L[W][W + 1], U[W][W + 1];
    size_t a = (size_t)blockIdx.y * W + threadIdx.y;      // the row that is staged and computed
    size_t b = (size_t)blockIdx.x * W + threadIdx.y;      // the row that is staged
    size_t c = (size_t)blockIdx.x * W + threadIdx.x;      // the column that is computed
    T s = 0;
    for (size_t o = 0; o < obs; o += W) {
        size_t k = o + threadIdx.x;
        T l = 0, u = 0;
        if (a < vars && k < obs && var[a] > T(0.2) && data[a * obs + k] != T(12.5))
            l = (data[a * obs + k] - mean[a]) / sqrt(var[a]);
        if (b < vars && k < obs && var[b] > T(0.2) && data[b * obs + k] != T(12.5))
            u = (data[b * obs + k] - mean[b]) / sqrt(var[b]);
        L[threadIdx.y][threadIdx.x] = l;
        U[threadIdx.y][threadIdx.x] = u;
        __syncthreads();
        for (int q = 0; q < W; ++q)
            s += L[threadIdx.y][q] * U[threadIdx.x][q];
        __syncthreads();
    }
    if (a < vars && c < vars && a <= c)
        R[a * vars + c] = s / (T)obs;
}

/* ------------------------------------------------------------ gaussian kernel regression: 1-D tile loop, exp in the staging */
#define NQ 128
__global__ void nadaraya(const float *xs, const float *ys, const float *hs, const float *qs, float *out, int n, int nq) {
  __shared__ float px[NQ], pa[NQ], pb[NQ];
  int q = blockIdx.x * NQ + threadIdx.x;
  float x = q < nq ? qs[q] : 0.f;
  float num = 0.f, den = 1e-6f;
  for (int t0 = 0; t0 < n; t0 += NQ) {
    int t = t0 + threadIdx.x;
    if (t < n && hs[t] > 0.1f && ys[t] >= 0.f) {
      px[threadIdx.x] = xs[t];
      pb[threadIdx.x] = expf(-hs[t]) / (1.f + sqrtf(hs[t]));
      pa[threadIdx.x] = pb[threadIdx.x] * ys[t];
    } else {
      px[threadIdx.x] = 0.f;
      pb[threadIdx.x] = 0.f;
      pa[threadIdx.x] = 0.f;
    }
    __syncthreads();
    for (int k = 0; k < NQ; k++) {
      float d = x - px[k];
      float w = 1.f / (1.f + d * d);
      num += w * pa[k];
      den += w * pb[k];
    }
    __syncthreads();
  }
  if (q < nq) out[q] = num / den;
}

/* ------------------------------------------------------------ gravity, float4 tiles, masses of far bodies are damped */
__global__ void nbody_force(const float4 *__restrict__ pos, float4 *__restrict__ acc, size_t n, float eps2, float cut)
{
    extern __shared__ float4 sh_pos[];
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    float4 me = i < n ? pos[i] : make_float4(0, 0, 0, 0);
    float ax = 0, ay = 0, az = 0;
    for (size_t tile = 0; tile * blockDim.x < n; tile++) {
        size_t j = tile * blockDim.x + threadIdx.x;
        float4 p = make_float4(0.f, 0.f, 0.f, 0.f);
        if (j < n) {
            p = pos[j];
            float r = sqrtf(p.x * p.x + p.y * p.y + p.z * p.z);
            if (r > cut) p.w /= r;
        }
        sh_pos[threadIdx.x] = p;
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < blockDim.x; k++) {
            float4 o = sh_pos[k];
            float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
            float inv = rsqrtf(dx * dx + dy * dy + dz * dz + eps2);
            float s = o.w * inv * inv * inv;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        __syncthreads();
    }
    if (i < n) acc[i] = make_float4(ax, ay, az, 0.f);
}

/* ------------------------------------------------------------ a small launch: tall times thin, few blocks, a long way along k */
__global__ void small_gemm_tn(const double *A, const double *B, double *C, int m, int n, int k, int lda, int ldb)
{
    // C(m x n) = A(k x m)^T * B(k x n)
    __shared__ double As[8][8], Bs[8][8];
    int r = blockIdx.y * 8 + threadIdx.y, c = blockIdx.x * 8 + threadIdx.x;
    int ra = blockIdx.y * 8 + threadIdx.x;
    double v = 0;
    for (int k0 = 0; k0 < k; k0 += 8) {
        int kk = k0 + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = (kk < k && ra < m && lda >= m) ? A[(size_t)kk * lda + ra] : 0.0;
        Bs[threadIdx.y][threadIdx.x] = (kk < k && c < n && ldb >= n) ? B[(size_t)kk * ldb + c] : 0.0;
        __syncthreads();
#pragma unroll
        for (int q = 0; q < 8; q++) v += As[q][threadIdx.y] * Bs[q][threadIdx.x];
        __syncthreads();
    }
    if (r < m && c < n) C[r * n + c] = v;
}

/* ------------------------------------------------------------ cross-correlation of a signal with a template, tiles of both */
__global__ void xcorr_lags(const int *sig, const int *tmpl, long long *res, int nsig, int ntmpl, int nlags)
{
    __shared__ int st[64];
    __shared__ int ss[64 + 128];
    int lag0 = blockIdx.x * 128;
    int lag = lag0 + threadIdx.x;
    long long acc = 0;
    for (int t0 = 0; t0 < ntmpl; t0 += 64) {
        if (threadIdx.x < 64) {
            int k = t0 + threadIdx.x;
            st[threadIdx.x] = k < ntmpl ? (tmpl[k] - 6) / (1 + k % 3) : 0;
        }
        for (int e = threadIdx.x; e < 64 + 128; e += 128) {
            int g = lag0 + t0 + e - nlags / 2;
            ss[e] = (g >= 0 && g < nsig && t0 < ntmpl) ? sig[g] : 0;
        }
        __syncthreads();
        for (int k = 0; k < 64; ++k)
            acc += st[k] * ss[threadIdx.x + k];
        __syncthreads();
    }
    if (lag < nlags) res[lag] = acc;
}

/* ------------------------------------------------------------ contrast: mean and variance of each row, two trees in one loop */
__global__ void row_moments(const double *d, double *mean, double *var, int obs)
{
    __shared__ double s1[256], s2[256];
    const double *row = d + (size_t)blockIdx.x * obs;
    double a = 0, b = 0;
    for (int i = threadIdx.x; i < obs; i += blockDim.x) { a += row[i]; b += row[i] * row[i]; }
    s1[threadIdx.x] = a;
    s2[threadIdx.x] = b;
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        __syncthreads();
        if (threadIdx.x < s) {
            s1[threadIdx.x] += s1[threadIdx.x + s];
            s2[threadIdx.x] += s2[threadIdx.x + s];
        }
    }
    if (threadIdx.x == 0) {
        double mu = s1[0] / obs;
        mean[blockIdx.x] = mu;
        var[blockIdx.x] = s2[0] / obs - mu * mu;
    }
}

int main()
{
    {
        int n = 1500, dim = 131;
        float *X = mk<float>((size_t)n * dim), *D = mk<float>((size_t)n * n);
        pairwise_dist<<<dim3(up(n, TS), up(n, TS)), dim3(TS, TS)>>>(X, D, n, dim);
        show("pairwise_dist", D, 4ull * n * n);
    }
    {
        size_t rows = 20000, v = 700, o = 523;          // moments of all rows, correlations of the first v
        double *X = mk<double>(rows * o), *m = mk<double>(rows), *s = mk<double>(rows), *R = mk<double>(v * v);
        row_moments<<<(int)rows, 256>>>(X, m, s, (int)o);
        show("row_mean", m, rows * 8);
        show("row_var", s, rows * 8);
        pearson<double, 16><<<dim3(up((int)v, 16), up((int)v, 16)), dim3(16, 16)>>>(X, m, s, R, v, o);
        show("pearson", R, v * v * 8);
    }
    {
        int n = 5003, nq = 40001;
        float *x = mk<float>(n), *y = mk<float>(n), *h = mk<float>(n), *q = mk<float>(nq), *o = mk<float>(nq);
        nadaraya<<<up(nq, NQ), NQ>>>(x, y, h, q, o, n, nq);
        show("nadaraya", o, 4ull * nq);
    }
    {
        size_t n = 20011;
        float4 *p = (float4 *)mk<float>(4 * n), *a = (float4 *)mk<float>(4 * n);
        nbody_force<<<up((int)n, 256), 256, 256 * sizeof(float4)>>>(p, a, n, 0.05f, 9.f);
        show("nbody_force", a, 16 * n);
    }
    {
        int m = 92, n = 75, k = 1501;
        double *A = mk<double>((size_t)k * 96), *B = mk<double>((size_t)k * 80), *C = mk<double>(m * n);
        small_gemm_tn<<<dim3(up(n, 8), up(m, 8)), dim3(8, 8)>>>(A, B, C, m, n, k, 96, 80);
        show("small_gemm_tn", C, 8ull * m * n);
    }
    {
        int ns = 200000, nt = 3001, nl = 150001;
        int *s = mk<int>(ns), *t = mk<int>(nt);
        long long *r = (long long *)mk<int>(2ull * nl);
        xcorr_lags<<<up(nl, 128), 128>>>(s, t, r, ns, nt, nl);
        show("xcorr_lags", r, 8ull * nl);
    }
    return 0;
}
