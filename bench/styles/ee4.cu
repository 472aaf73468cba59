// Blocks that iterate: recurrences, relaxations, small factorizations.
#include <cmath>
#include <cstdint>
#include "shown.h"

// LCS lengths of byte strings: one anti-diagonal a step, three diagonals kept
constexpr int LCS_N = 128;
__global__ void lcsLength(const unsigned char *A, const unsigned char *B, int *len, int nPairs)
{
    __shared__ unsigned char sa[LCS_N], sb[LCS_N];
    __shared__ short diag[3][LCS_N + 1];
    const int t = threadIdx.x;
    const int pair = blockIdx.x;
    sa[t] = A[pair * LCS_N + t];
    sb[t] = B[pair * LCS_N + LCS_N - 1 - t];
    diag[0][t] = diag[1][t] = diag[2][t] = 0;
    if (t == 0) diag[0][LCS_N] = diag[1][LCS_N] = diag[2][LCS_N] = 0;
    __syncthreads();
    // diag[.][i + 1] holds L(i, d - i); index 0 is the empty prefix
    for (int d = 0; d < 2 * LCS_N - 1; ++d) {
        short *cur = diag[d % 3], *p1 = diag[(d + 2) % 3], *p2 = diag[(d + 1) % 3];
        int j = d - t;
        if (j >= 0 && j < LCS_N) {
            short up = p1[t];                              // L(i - 1, j)
            short left = j > 0 ? p1[t + 1] : (short)0;     // L(i, j - 1)
            short corner = j > 0 ? p2[t] : (short)0;
            cur[t + 1] = sa[t] == sb[j] ? short(corner + 1) : (up > left ? up : left);
        }
        __syncthreads();
    }
    if (t == LCS_N - 1) len[pair] = diag[(2 * LCS_N - 2) % 3][LCS_N];
}

// Several Jacobi sweeps on a 32 x 32 tile; the valid area shrinks by one each sweep
template <int SWEEPS>
__global__ void jacobiTile(const float *__restrict__ u, const float *__restrict__ f, float *__restrict__ un, int nx, int ny, float h2)
{
    const int KEEP = 32 - 2 * SWEEPS;
    __shared__ float a[2][32][32];
    int lx = threadIdx.x, ly = threadIdx.y;
    int gx = blockIdx.x * KEEP + lx - SWEEPS, gy = blockIdx.y * KEEP + ly - SWEEPS;
    bool inside = gx >= 0 && gx < nx && gy >= 0 && gy < ny;
    float rhs = inside ? h2 * f[gy * nx + gx] : 0.f;
    float c = inside ? u[gy * nx + gx] : 0.f;
    bool moves = gx > 0 && gx < nx - 1 && gy > 0 && gy < ny - 1;
    int b = 0;
    a[b][ly][lx] = c;
    __syncthreads();
#pragma unroll
    for (int s = 1; s <= SWEEPS; ++s) {
        if (moves && lx >= s && lx < 32 - s && ly >= s && ly < 32 - s)
            c = 0.25f * (a[b][ly - 1][lx] + a[b][ly + 1][lx] + a[b][ly][lx - 1] + a[b][ly][lx + 1] - rhs);
        b ^= 1;
        a[b][ly][lx] = c;
        __syncthreads();
    }
    if (inside && lx >= SWEEPS && lx < 32 - SWEEPS && ly >= SWEEPS && ly < 32 - SWEEPS) un[gy * nx + gx] = c;
}

// Game of life on separate 64 x 64 toroidal worlds
#define WORLD 64
#define AT(p, r, c) (p)[(((r) + WORLD) & (WORLD - 1)) * WORLD + (((c) + WORLD) & (WORLD - 1))]
__global__ void life(unsigned char *worlds, int generations)
{
    __shared__ unsigned char w0[WORLD * WORLD], w1[WORLD * WORLD];
    unsigned char *p = w0, *q = w1, *g = worlds + blockIdx.x * (WORLD * WORLD);
    int nt = blockDim.x * blockDim.y, me = threadIdx.y * blockDim.x + threadIdx.x;
    for (int k = me; k < WORLD * WORLD; k += nt) p[k] = (g[k] ^ k >> 3 ^ blockIdx.x) & 1;
    __syncthreads();
    while (generations-- > 0) {
        for (int r = threadIdx.y; r < WORLD; r += blockDim.y)
            for (int c = threadIdx.x; c < WORLD; c += blockDim.x) {
                int s = AT(p, r - 1, c - 1) + AT(p, r - 1, c) + AT(p, r - 1, c + 1) + AT(p, r, c - 1) + AT(p, r, c + 1) +
                        AT(p, r + 1, c - 1) + AT(p, r + 1, c) + AT(p, r + 1, c + 1);
                q[r * WORLD + c] = s == 3 || (s == 2 && p[r * WORLD + c]);
            }
        __syncthreads();
        unsigned char *swap = p;
        p = q;
        q = swap;
    }
    for (int k = me; k < WORLD * WORLD; k += nt) g[k] = p[k];
}

// Parallel cyclic reduction, double, any system length up to the block
struct TriRow { double a, b, c, d; };
__global__ void pcrSolve(const double *lo, const double *di, const double *up, const double *rhs, double *x, int n)
{
    extern __shared__ TriRow sys[];
    const int i = threadIdx.x;
    const int g = blockIdx.x * n + i;
    TriRow r = {0.0, 1.0, 0.0, 0.0};
    if (i < n) {
        r.a = i ? -0.1 * lo[g] : 0.0;
        r.b = 4.0 + di[g];
        r.c = i < n - 1 ? -0.1 * up[g] : 0.0;
        r.d = rhs[g];
    }
    sys[i] = r;
    __syncthreads();
    for (int s = 1; s < n; s += s) {
        if (i < n) {
            if (i - s >= 0) {
                TriRow m = sys[i - s];
                double k = r.a / m.b;
                r.b -= m.c * k;
                r.d -= m.d * k;
                r.a = -m.a * k;
            }
            if (i + s < n) {
                TriRow m = sys[i + s];
                double k = r.c / m.b;
                r.b -= m.a * k;
                r.d -= m.d * k;
                r.c = -m.c * k;
            }
        }
        __syncthreads();
        sys[i] = r;
        __syncthreads();
    }
    if (i < n) x[g] = r.d / r.b;
}

// Cyclic reduction forwards and back, in place, 2^m unknowns with 2^(m-1) threads
__global__ void crSolve(float *d_a, float *d_b, float *d_c, float *d_d, float *d_x)
{
    const int systemSize = 2 * blockDim.x;
    extern __shared__ float shared[];
    float *a = shared, *b = &a[systemSize], *c = &b[systemSize], *d = &c[systemSize], *x = &d[systemSize];
    int thid = threadIdx.x, blid = blockIdx.x;
    for (int h = 0; h < 2; h++) {
        int l = thid + h * blockDim.x, gl = l + blid * systemSize;
        a[l] = l == 0 ? 0.f : -d_a[gl] * 0.05f;
        b[l] = 2.f + d_b[gl];
        c[l] = l == systemSize - 1 ? 0.f : -d_c[gl] * 0.05f;
        d[l] = d_d[gl];
    }
    __syncthreads();
    int stride = 1, numThreads = blockDim.x;
    for (; numThreads > 1; numThreads /= 2) {
        int delta = stride;
        stride *= 2;
        if (thid < numThreads) {
            int i = stride * thid + stride - 1;
            int iLeft = i - delta, iRight = i + delta;
            if (iRight >= systemSize) iRight = systemSize - 1;
            if (i == systemSize - 1) {
                float k1 = a[i] / b[iLeft];
                b[i] = b[i] - c[iLeft] * k1;
                d[i] = d[i] - d[iLeft] * k1;
                a[i] = -a[iLeft] * k1;
                c[i] = 0;
            } else {
                float k1 = a[i] / b[iLeft], k2 = c[i] / b[iRight];
                b[i] = b[i] - c[iLeft] * k1 - a[iRight] * k2;
                d[i] = d[i] - d[iLeft] * k1 - d[iRight] * k2;
                a[i] = -a[iLeft] * k1;
                c[i] = -c[iRight] * k2;
            }
        }
        __syncthreads();
    }
    if (thid < 2) {
        int p = stride - 1, q = 2 * stride - 1;
        float det = b[q] * b[p] - c[p] * a[q];
        if (thid == 0) x[p] = (b[q] * d[p] - c[p] * d[q]) / det;
        else x[q] = (d[q] * b[p] - d[p] * a[q]) / det;
    }
    __syncthreads();
    for (numThreads = 2; numThreads <= (int)blockDim.x; numThreads *= 2) {
        int delta = stride / 2;
        if (thid < numThreads) {
            int i = stride * thid + stride / 2 - 1;
            if (i == delta - 1) x[i] = (d[i] - c[i] * x[i + delta]) / b[i];
            else x[i] = (d[i] - a[i] * x[i - delta] - c[i] * x[i + delta]) / b[i];
        }
        stride = delta;
        __syncthreads();
    }
    d_x[thid + blid * systemSize] = x[thid];
    d_x[thid + blockDim.x + blid * systemSize] = x[thid + blockDim.x];
}

// Small LU with row pivoting, one matrix a block, a thread owns a column
template <class R, unsigned DIM>
__global__ void luBatch(R *mats, int *pivots)
{
    __shared__ R m[DIM][DIM + 1];
    __shared__ unsigned prow;
    R *A = mats + DIM * DIM * (size_t)blockIdx.x;
    const unsigned col = threadIdx.x;
    for (unsigned r = 0; r < DIM; ++r) m[r][col] = A[r * DIM + col] - R((r * 5 + col * 11 + blockIdx.x) % 7);
    __syncthreads();
    for (unsigned k = 0; k < DIM; ++k) {
        if (col == k) {
            unsigned best = k;
            for (unsigned r = k + 1; r < DIM; ++r)
                if (fabs(m[r][k]) > fabs(m[best][k])) best = r;
            prow = best;
            pivots[blockIdx.x * DIM + k] = best;
        }
        __syncthreads();
        const unsigned p = prow;
        if (p != k) { R t = m[p][col]; m[p][col] = m[k][col]; m[k][col] = t; }
        __syncthreads();
        if (col > k) {                       // as row index here
            R d = m[k][k];
            m[col][k] = d != R(0) ? m[col][k] / d : R(0);
        }
        __syncthreads();
        if (col > k)
            for (unsigned r = k + 1; r < DIM; ++r) m[r][col] -= m[r][k] * m[k][col];
        __syncthreads();
    }
    for (unsigned r = 0; r < DIM; ++r) A[r * DIM + col] = m[r][col];
}

// Cholesky of S = L0 L0' + I pieces, 24 x 24, 2-D block, right-looking
#define CN 24
__global__ void cholesky24(const float *in, float *out)
{
    __shared__ float s[CN][CN + 1];
    int j = threadIdx.x, i = threadIdx.y;
    size_t off = (size_t)blockIdx.x * CN * CN;
    float v = 0.5f * (in[off + i * CN + j] + in[off + j * CN + i]) * 0.1f;
    if (i == j) v += 40.f;
    s[i][j] = v;
    __syncthreads();
    for (int k = 0; k < CN; k++) {
        if (i == k && j == k) s[k][k] = sqrtf(s[k][k]);
        __syncthreads();
        if (j == k && i > k) s[i][k] /= s[k][k];
        __syncthreads();
        if (j > k && i >= j) s[i][j] -= s[i][k] * s[j][k];
        __syncthreads();
    }
    out[off + i * CN + j] = i >= j ? s[i][j] : 0.f;
}

// Products of polynomials over GF(2), 512 bits each; 32 threads a product, one output word each
__device__ static inline void clmul32(uint32_t x, uint32_t y, uint32_t &hi, uint32_t &lo)
{
    uint64_t acc = 0, wide = x;
#pragma unroll
    for (int b = 0; b < 32; ++b) {
        acc ^= wide & (0 - (uint64_t)(y & 1));
        wide <<= 1;
        y >>= 1;
    }
    hi = uint32_t(acc >> 32);
    lo = uint32_t(acc);
}
__global__ void gf2_mul512(const uint32_t *a, const uint32_t *b, uint32_t *c, int n)
{
    __shared__ uint32_t sa[4][16], sb[4][16];
    const int w = threadIdx.x, slot = threadIdx.y;
    const int item = blockIdx.x * blockDim.y + slot;
    if (item < n) {
        if (w < 16) sa[slot][w] = a[item * 16 + w] * 0x9e3779b9u + w;
        else sb[slot][w - 16] = b[item * 16 + w - 16] * 0x85ebca6bu ^ item;
    }
    __syncthreads();
    if (item >= n) return;
    uint32_t r = 0, h, l;
    for (int i = 0; i < 16; ++i) {
        int j = w - i;                      // low word of a_i b_j lands on w
        if (j >= 0 && j < 16) { clmul32(sa[slot][i], sb[slot][j], h, l); r ^= l; }
        j = w - 1 - i;                      // high word of a_i b_j lands on i + j + 1
        if (j >= 0 && j < 16) { clmul32(sa[slot][i], sb[slot][j], h, l); r ^= h; }
    }
    c[item * 32 + w] = r;
}

int main()
{
    {
        int n = 15000;
        unsigned char *a = mk<unsigned char>(n * LCS_N + 64), *b = mk<unsigned char>(n * LCS_N);
        int *l = mk<int>(n);
        lcsLength<<<n, LCS_N>>>(a + 13, b, l, n);
        show("lcsLength", l, n * 4);
        cudaFree(a); cudaFree(b); cudaFree(l);
    }
    {
        int nx = 4001, ny = 3003;
        size_t n = (size_t)nx * ny;
        float *u = mk<float>(n), *f = mk<float>(n), *v = mk<float>(n);
        int keep = 32 - 2 * 4;
        jacobiTile<4><<<dim3((nx + keep - 1) / keep, (ny + keep - 1) / keep), dim3(32, 32)>>>(u, f, v, nx, ny, 0.01f);
        show("jacobiTile", v, n * 4);
        cudaFree(u); cudaFree(f); cudaFree(v);
    }
    {
        int n = 1500;
        unsigned char *w = mk<unsigned char>(n * 4096);
        life<<<n, dim3(32, 8)>>>(w, 25);
        show("life", w, n * 4096);
        cudaFree(w);
    }
    {
        int n = 250, s = 8000;
        double *a = mk<double>(n * s), *b = mk<double>(n * s), *c = mk<double>(n * s), *d = mk<double>(n * s), *x = mk<double>(n * s);
        pcrSolve<<<s, 256, 256 * sizeof(TriRow)>>>(a, b, c, d, x, n);
        show("pcrSolve", x, (size_t)n * s * 8);
        cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(d); cudaFree(x);
    }
    {
        int n = 512, s = 12000;
        size_t m = (size_t)n * s;
        float *a = mk<float>(m), *b = mk<float>(m), *c = mk<float>(m), *d = mk<float>(m), *x = mk<float>(m);
        crSolve<<<s, n / 2, 5 * n * sizeof(float)>>>(a, b, c, d, x);
        show("crSolve", x, m * 4);
        cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(d); cudaFree(x);
    }
    {
        int n = 12000;
        double *m = mk<double>((size_t)n * 32 * 32);
        int *p = mk<int>(n * 32);
        luBatch<double, 32><<<n, 32>>>(m, p);
        show("luBatch", m, (size_t)n * 8192);
        show("luBatch", p, n * 128);
        cudaFree(m); cudaFree(p);
    }
    {
        int n = 12000;
        float *a = mk<float>((size_t)n * CN * CN), *l = mk<float>((size_t)n * CN * CN);
        cholesky24<<<n, dim3(CN, CN)>>>(a, l);
        show("cholesky24", l, (size_t)n * CN * CN * 4);
        cudaFree(a); cudaFree(l);
    }
    {
        int n = 100001;
        uint32_t *a = mk<uint32_t>(n * 16), *b = mk<uint32_t>(n * 16), *c = mk<uint32_t>(n * 32);
        gf2_mul512<<<(n + 3) / 4, dim3(32, 4)>>>(a, b, c, n);
        show("gf2_mul512", c, (size_t)n * 128);
        cudaFree(a); cudaFree(b); cudaFree(c);
    }
    return 0;
}
