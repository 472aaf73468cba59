// Small solvers in shared memory: cyclic reduction, PCR, LU, Cholesky, Householder QR, GF(256) inverse, Adler tree
#include "shown.h"
#include <vector>

template <class T, class F>
static T *gen(size_t n, F f)
{
    std::vector<T> h(n);
    for (size_t i = 0; i < n; ++i) h[i] = f(i);
    T *d;
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    return d;
}

// Cyclic reduction (after Zhang, Cohen, Owens): system of 2*blockDim.x unknowns
__global__ void crKernel(float *d_a, float *d_b, float *d_c, float *d_d, float *d_x)
{
    int thid = threadIdx.x;
    int blid = blockIdx.x;
    int stride = 1;
    int numThreads = blockDim.x;
    const unsigned int systemSize = blockDim.x * 2;
    int iteration = (int)log2f((float)(systemSize / 2));

    extern __shared__ float array[];
    float *a = array;
    float *b = (float *)&a[systemSize];
    float *c = (float *)&b[systemSize];
    float *d = (float *)&c[systemSize];
    float *x = (float *)&d[systemSize];

    a[thid] = d_a[thid + blid * systemSize];
    a[thid + blockDim.x] = d_a[thid + blockDim.x + blid * systemSize];
    b[thid] = d_b[thid + blid * systemSize];
    b[thid + blockDim.x] = d_b[thid + blockDim.x + blid * systemSize];
    c[thid] = d_c[thid + blid * systemSize];
    c[thid + blockDim.x] = d_c[thid + blockDim.x + blid * systemSize];
    d[thid] = d_d[thid + blid * systemSize];
    d[thid + blockDim.x] = d_d[thid + blockDim.x + blid * systemSize];
    __syncthreads();

    // forward elimination
    for (int j = 0; j < iteration; j++) {
        __syncthreads();
        stride *= 2;
        int delta = stride / 2;
        if (thid < numThreads) {
            int i = stride * thid + stride - 1;
            int iLeft = i - delta;
            int iRight = i + delta;
            if (iRight >= (int)systemSize) iRight = systemSize - 1;
            float tmp1 = a[i] / b[iLeft];
            float tmp2 = c[i] / b[iRight];
            float nb = b[i] - c[iLeft] * tmp1 - a[iRight] * tmp2;
            float nd = d[i] - d[iLeft] * tmp1 - d[iRight] * tmp2;
            if (iRight == i) { nb = b[i] - c[iLeft] * tmp1; nd = d[i] - d[iLeft] * tmp1; }
            float na = -a[iLeft] * tmp1;
            float nc = (iRight == i) ? 0.f : -c[iRight] * tmp2;
            b[i] = nb;
            d[i] = nd;
            a[i] = na;
            c[i] = nc;
        }
        numThreads /= 2;
    }
    __syncthreads();
    if (thid < 2) {
        int addr1 = stride - 1;
        int addr2 = 2 * stride - 1;
        float tmp3 = b[addr2] * b[addr1] - c[addr1] * a[addr2];
        if (thid == 0)
            x[addr1] = (b[addr2] * d[addr1] - c[addr1] * d[addr2]) / tmp3;
        else
            x[addr2] = (d[addr2] * b[addr1] - d[addr1] * a[addr2]) / tmp3;
    }
    // backward substitution
    numThreads = 2;
    for (int j = 0; j < iteration; j++) {
        int delta = stride / 2;
        __syncthreads();
        if (thid < numThreads) {
            int i = stride * thid + stride / 2 - 1;
            if (i == delta - 1)
                x[i] = (d[i] - c[i] * x[i + delta]) / b[i];
            else
                x[i] = (d[i] - a[i] * x[i - delta] - c[i] * x[i + delta]) / b[i];
        }
        stride /= 2;
        numThreads *= 2;
    }
    __syncthreads();
    d_x[thid + blid * systemSize] = x[thid];
    d_x[thid + blockDim.x + blid * systemSize] = x[thid + blockDim.x];
}

// Parallel cyclic reduction, one equation a thread
template <typename T, int N>
__global__ void pcr_solve(const T *lo, const T *di, const T *up, const T *rhs, T *sol)
{
    __shared__ T a[N], b[N], c[N], d[N];
    const int i = threadIdx.x;
    const size_t g = (size_t)blockIdx.x * N + i;
    a[i] = i == 0 ? T(0) : lo[g];
    b[i] = di[g];
    c[i] = i == N - 1 ? T(0) : up[g];
    d[i] = rhs[g];
    __syncthreads();
    for (int delta = 1; delta < N; delta *= 2) {
        T an = 0, bn = b[i], cn = 0, dn = d[i];
        if (i - delta >= 0) {
            T k = a[i] / b[i - delta];
            an = -a[i - delta] * k;
            bn -= c[i - delta] * k;
            dn -= d[i - delta] * k;
        }
        if (i + delta < N) {
            T k = c[i] / b[i + delta];
            cn = -c[i + delta] * k;
            bn -= a[i + delta] * k;
            dn -= d[i + delta] * k;
        }
        __syncthreads();
        a[i] = an; b[i] = bn; c[i] = cn; d[i] = dn;
        __syncthreads();
    }
    sol[g] = d[i] / b[i];
}

// batched LU without pivoting, 16x16, a 2-D block a matrix
__global__ void luBatched16(float *A)
{
    __shared__ float m[16][17];
    int c = threadIdx.x, r = threadIdx.y;
    float *mat = A + blockIdx.x * 256;
    m[r][c] = mat[r * 16 + c];
    __syncthreads();
    for (int k = 0; k < 15; k++) {
        if (c == k && r > k)
            m[r][k] /= m[k][k];
        __syncthreads();
        if (r > k && c > k)
            m[r][c] -= m[r][k] * m[k][c];
        __syncthreads();
    }
    mat[r * 16 + c] = m[r][c];
}

// Cholesky 32x32, one thread a row
__global__ void cholesky32(const float *in, float *out)
{
    __shared__ float L[32 * 33];
#define LL(i, j) L[(i) * 33 + (j)]
    int row = threadIdx.x;
    const float *src = in + (size_t)blockIdx.x * 1024;
    for (int i = 0; i < 32; ++i)
        LL(i, row) = src[i * 32 + row];
    __syncthreads();
    for (int k = 0; k < 32; ++k) {
        if (row == k) LL(k, k) = sqrtf(LL(k, k));
        __syncthreads();
        if (row > k) LL(row, k) /= LL(k, k);
        __syncthreads();
        if (row > k)
            for (int j = k + 1; j <= row; ++j)
                LL(row, j) -= LL(row, k) * LL(j, k);
        __syncthreads();
    }
    for (int i = 0; i < 32; ++i)
        out[(size_t)blockIdx.x * 1024 + i * 32 + row] = row <= i ? LL(i, row) : 0.f;
#undef LL
}

// Householder QR of 8x8 matrices; 8 threads a matrix, 8 matrices a block
struct QrShared {
    double A[8][8];
    double v[8];
    double beta;
};

__global__ void householder8(const double *in, double *R)
{
    __shared__ QrShared pool[8];
    int col = threadIdx.x;
    QrShared &s = pool[threadIdx.y];
    size_t base = ((size_t)blockIdx.x * 8 + threadIdx.y) * 64;
    for (int r = 0; r < 8; r++)
        s.A[r][col] = in[base + r * 8 + col];
    __syncthreads();
    for (int k = 0; k < 7; k++) {
        if (col == 0) {
            double nrm = 0;
            for (int r = k; r < 8; r++) nrm += s.A[r][k] * s.A[r][k];
            nrm = sqrt(nrm);
            double alpha = s.A[k][k] > 0 ? -nrm : nrm;
            double vv = 0;
            for (int r = 0; r < 8; r++) {
                double x = 0;
                if (r >= k) x = s.A[r][k];
                if (r == k) x -= alpha;
                s.v[r] = x;
                vv += x * x;
            }
            s.beta = vv > 0 ? 2.0 / vv : 0.0;
        }
        __syncthreads();
        if (col >= k) {
            double w = 0;
            for (int r = k; r < 8; r++) w += s.v[r] * s.A[r][col];
            w *= s.beta;
            for (int r = k; r < 8; r++) s.A[r][col] -= w * s.v[r];
        }
        __syncthreads();
    }
    for (int r = 0; r < 8; r++)
        R[base + r * 8 + col] = s.A[r][col];
}

// Reed-Solomon decoder matrix: invert 8x8 over GF(2^8), Gauss-Jordan on [A | I]
__device__ unsigned char gfMul(unsigned char a, unsigned char b)
{
    unsigned char p = 0;
    for (int i = 0; i < 8; i++) {
        if (b & 1) p ^= a;
        unsigned char hi = a & 0x80;
        a <<= 1;
        if (hi) a ^= 0x1d;
        b >>= 1;
    }
    return p;
}

__device__ unsigned char gfInv(unsigned char a)
{
    unsigned char r = 1; // a^254
    for (int i = 0; i < 7; i++) {
        a = gfMul(a, a);
        r = gfMul(r, a);
    }
    return r;
}

__global__ void gfInvert8(const unsigned char *mats, unsigned char *inv)
{
    __shared__ unsigned char M[8][16];
    __shared__ unsigned char pivInv;
    int x = threadIdx.x, y = threadIdx.y; // 16 x 8
    const unsigned char *src = mats + blockIdx.x * 64;
    M[y][x] = x < 8 ? src[y * 8 + x] : (unsigned char)(x - 8 == y);
    __syncthreads();
    for (int k = 0; k < 8; k++) {
        if (x == 0 && y == 0) {
            if (M[k][k] == 0) M[k][k] = 1; // singular: carry on with something
            pivInv = gfInv(M[k][k]);
        }
        __syncthreads();
        if (y == k) M[k][x] = gfMul(M[k][x], pivInv);
        __syncthreads();
        unsigned char f = M[y][k];
        __syncthreads();
        if (y != k) M[y][x] ^= gfMul(f, M[k][x]);
        __syncthreads();
    }
    if (x >= 8) inv[blockIdx.x * 64 + y * 8 + x - 8] = M[y][x];
}

// Adler-32 of 4 KiB chunks: leaves of 16 bytes, then a tree of combines
#define ADLER 65521u
struct AdlerNode { unsigned a, b, len; };
__global__ void adlerTree(const unsigned char *data, unsigned *sums)
{
    __shared__ AdlerNode node[256];
    int t = threadIdx.x;
    const unsigned char *p = data + (size_t)blockIdx.x * 4096 + t * 16;
    unsigned a = 0, b = 0;
    for (int i = 0; i < 16; i++) {
        a += p[i];
        b += a;
    }
    AdlerNode n;
    n.a = a % ADLER; n.b = b % ADLER; n.len = 16;
    node[t] = n;
    __syncthreads();
    for (int w = 1; w < 256; w <<= 1) {
        if ((t & (2 * w - 1)) == 0) {
            AdlerNode l = node[t], r = node[t + w];
            AdlerNode m;
            m.a = (l.a + r.a) % ADLER;
            m.b = (l.b + r.b + (l.a * (r.len % ADLER)) % ADLER) % ADLER;
            m.len = l.len + r.len;
            node[t] = m;
        }
        __syncthreads();
    }
    if (t == 0) {
        unsigned A = (1 + node[0].a) % ADLER;
        unsigned B = (node[0].b + node[0].len) % ADLER;
        sums[blockIdx.x] = (B << 16) | A;
    }
}

int main()
{
    {
        int num_systems = 16384, size = 512;
        size_t n = (size_t)num_systems * size;
        float *a = gen<float>(n, [=](size_t i) { return i % size == 0 ? 0.f : 1.f + (i % 5) * 0.1f; });
        float *b = gen<float>(n, [=](size_t i) { return 6.f + (i % 7) * 0.25f; });
        float *c = gen<float>(n, [=](size_t i) { return i % size == (size_t)size - 1 ? 0.f : 1.f + (i % 3) * 0.2f; });
        float *d = mk<float>(n), *x = mk<float>(n);
        crKernel<<<num_systems, size / 2, 5 * size * sizeof(float)>>>(a, b, c, d, x);
        show("crKernel", x, n * sizeof(float));
        pcr_solve<float, 512><<<num_systems, 512>>>(a, b, c, d, x);
        show("pcr_solve", x, n * sizeof(float));
    }
    {
        int batch = 16384;
        size_t n = (size_t)batch * 256;
        float *A = gen<float>(n, [](size_t i) { size_t r = (i / 16) % 16, c = i % 16; return (float)((i * 7919) % 101) / 50.f + (r == c ? 40.f : 0.f); });
        luBatched16<<<batch, dim3(16, 16)>>>(A);
        show("luBatched16", A, n * sizeof(float));
    }
    {
        int batch = 8192;
        size_t n = (size_t)batch * 1024;
        float *A = gen<float>(n, [](size_t i) { size_t m = i / 1024, r = (i / 32) % 32, c = i % 32;
            return (float)((m * 31 + r * c + (r + c) * 17) % 13) / 13.f + (r == c ? 40.f : 0.f); });
        float *L = mk<float>(n);
        cholesky32<<<batch, 32>>>(A, L);
        show("cholesky32", L, n * sizeof(float));
    }
    {
        int mats = 65536;
        double *A = mk<double>((size_t)mats * 64), *R = mk<double>((size_t)mats * 64);
        householder8<<<mats / 8, dim3(8, 8)>>>(A, R);
        show("householder8", R, (size_t)mats * 64 * sizeof(double));
    }
    {
        int mats = 32768;
        unsigned char *A = gen<unsigned char>((size_t)mats * 64, [](size_t i) { return (unsigned char)((i * 2654435761u) >> 13); });
        unsigned char *I = mk<unsigned char>((size_t)mats * 64);
        gfInvert8<<<mats, dim3(16, 8)>>>(A, I);
        show("gfInvert8", I, (size_t)mats * 64);
        unsigned char *data = mk<unsigned char>(1u << 26);
        unsigned *s = mk<unsigned>(1u << 14);
        adlerTree<<<1 << 14, 256>>>(data, s);
        show("adlerTree", s, (1u << 14) * sizeof(unsigned));
    }
    return 0;
}
