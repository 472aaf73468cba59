// per-thread private arrays
#include "shown.h"

#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("%s\n", cudaGetErrorString(e_)); exit(1); } } while (0)

// every thread keeps its own little histogram and finds mode & entropy-like score
__global__ void localMode(const unsigned char *data, int *mode, float *score, int perThread, int nthreads)
{
    int gid = blockIdx.x * blockDim.x + threadIdx.x;
    if (gid >= nthreads) return;
    unsigned short cnt[16];
    for (int i = 0; i < 16; i++) cnt[i] = 0;
    for (int i = 0; i < perThread; i++) {
        unsigned char v = data[(size_t)i * nthreads + gid];
        cnt[(v + i * (v >> 2)) & 15]++;
    }
    int best = 0;
    float sc = 0.f;
    for (int i = 0; i < 16; i++) {
        if (cnt[i] > cnt[best]) best = i;
        sc += (float)cnt[i] * cnt[i];
    }
    mode[gid] = best;
    score[gid] = sc / perThread;
}

// trimmed mean by insertion sort
template <int LEN>
__global__ void trimmed_mean(const float *__restrict__ x, float *__restrict__ y, int n, int trim)
{
    const int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i >= n) return;
    float v[LEN];
    for (int k = 0; k < LEN; ++k) {
        float key = x[k * n + i] + 0.01f * ((i * 31 + k * 17) % 29);
        int j = k - 1;
        while (j >= 0 && v[j] > key) {
            v[j + 1] = v[j];
            --j;
        }
        v[j + 1] = key;
    }
    float s = 0;
    for (int k = trim; k < LEN - trim; ++k) s += v[k];
    y[i] = s / (LEN - 2 * trim);
}

// LU with partial pivoting of 6x6 and one solve
#define NN 6
__global__ void lu6_solve(const double *A, const double *b, double *x, int batch)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= batch) return;
    double a[NN][NN], r[NN];
    int piv[NN];
    for (int i = 0; i < NN; i++) {
        for (int j = 0; j < NN; j++) a[i][j] = A[(size_t)(i * NN + j) * batch + id] + ((i + 2) % NN == j ? 20.0 : 0.0);
        piv[i] = i;
    }
    for (int k = 0; k < NN; k++) {
        int p = k;
        double m = fabs(a[piv[k]][k]);
        for (int i = k + 1; i < NN; i++) {
            double q = fabs(a[piv[i]][k]);
            if (q > m) { m = q; p = i; }
        }
        int t = piv[k]; piv[k] = piv[p]; piv[p] = t;
        double d = 1.0 / (a[piv[k]][k] + 1e-12);
        for (int i = k + 1; i < NN; i++) {
            double l = a[piv[i]][k] * d;
            a[piv[i]][k] = l;
            for (int j = k + 1; j < NN; j++) a[piv[i]][j] -= l * a[piv[k]][j];
        }
    }
    for (int i = 0; i < NN; i++) {
        r[i] = b[(size_t)piv[i] * batch + id];
        for (int j = 0; j < i; j++) r[i] -= a[piv[i]][j] * r[j];
    }
    for (int i = NN - 1; i >= 0; i--) {
        for (int j = i + 1; j < NN; j++) r[i] -= a[piv[i]][j] * r[j];
        r[i] /= a[piv[i]][i] + 1e-12;
        x[(size_t)i * batch + id] = r[i];
    }
}

// longest common subsequence of two 48-byte strings, one row of the table
__global__ void lcs_pairs(const unsigned char *s, const unsigned char *t, int *len, int pairs)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pairs) return;
    int row[49];
    for (int j = 0; j <= 48; j++) row[j] = 0;
    for (int i = 0; i < 48; i++) {
        int diag = 0;
        unsigned char c = s[i * pairs + p] & 3;
        for (int j = 1; j <= 48; j++) {
            int up = row[j];
            if (c == (t[(j - 1) * pairs + p] & 3)) row[j] = diag + 1;
            else row[j] = max(up, row[j - 1]);
            diag = up;
        }
    }
    len[p] = row[48];
}

// range sum over an implicit segment tree, explicit stack
__global__ void rangeQuery(const float *tree, int leaves, const int *ql, float *ans, int nq)
{
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= nq) return;
    int lo = (int)((q * 7919ll + ql[q] * 131) % leaves);
    int hi = min(leaves, lo + 1 + (q * 37) % 5000);
    int stackNode[40], stackLo[40], stackLen[40], top = 0;
    stackNode[0] = 1; stackLo[0] = 0; stackLen[0] = leaves;
    top = 1;
    float s = 0.f;
    while (top > 0) {
        --top;
        int nd = stackNode[top], l = stackLo[top], len = stackLen[top];
        if (l >= hi || l + len <= lo) continue;
        if (l >= lo && l + len <= hi) { s += tree[nd]; continue; }
        stackNode[top] = 2 * nd; stackLo[top] = l; stackLen[top] = len / 2; top++;
        stackNode[top] = 2 * nd + 1; stackLo[top] = l + len / 2; stackLen[top] = len / 2; top++;
    }
    ans[q] = s;
}

int main(int argc, char *argv[])
{
    {
        int nt = 1 << 18;
        unsigned char *d = mk<unsigned char>((size_t)nt * 64);
        int *m; float *s;
        CHECK(cudaMalloc(&m, nt * sizeof(int)));
        CHECK(cudaMalloc(&s, nt * sizeof(float)));
        localMode<<<nt / 256, 256>>>(d, m, s, 64, nt);
        show("localMode.mode", m, nt * sizeof(int));
        show("localMode.score", s, nt * sizeof(float));
        int pairs = 100000;
        lcs_pairs<<<(pairs + 127) / 128, 128>>>(d, d + 48 * pairs + 12345, m, pairs);
        show("lcs_pairs", m, pairs * sizeof(int));
    }
    {
        int n = 500001;
        float *x = mk<float>((size_t)n * 24), *y;
        CHECK(cudaMalloc(&y, (1 << 20) * sizeof(float)));
        trimmed_mean<24><<<(n + 191) / 192, 192>>>(x, y, n, 4);
        show("trimmed_mean", y, n * sizeof(float));
        int *ql = mk<int>(1 << 20);
        rangeQuery<<<(1 << 20) / 64, 64>>>(x, 1 << 21, ql, y, 1 << 20);
        show("rangeQuery", y, (1 << 20) * sizeof(float));
    }
    {
        int batch = 200000;
        double *A = mk<double>((size_t)36 * batch), *b = mk<double>((size_t)6 * batch), *x;
        CHECK(cudaMalloc(&x, sizeof(double) * 6 * batch));
        lu6_solve<<<(batch + 63) / 64, 64>>>(A, b, x, batch);
        show("lu6_solve", x, sizeof(double) * 6 * batch);
    }
    return 0;
}
