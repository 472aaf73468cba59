// l5 -- small dense and banded linear algebra, paths in graphs, vector norms.
#include "shown.h"

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

template <typename scalar_t>
scalar_t* device_random(size_t len, unsigned int range, unsigned int seed, scalar_t scale)
{
    scalar_t* h = (scalar_t*)malloc(len * sizeof(scalar_t));
    unsigned int x = 2463534242u ^ (seed * 2654435761u);
    for (size_t i = 0; i < len; ++i)
    {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        h[i] = (scalar_t)(x % range) * scale;
    }
    scalar_t* d;
    cudaMalloc((void**)&d, len * sizeof(scalar_t));
    cudaMemcpy(d, h, len * sizeof(scalar_t), cudaMemcpyHostToDevice);
    free(h);
    return d;
}

// class 5: LU without pivoting, one 16x16 matrix a block, padded rows
__global__ void lu16(const float* __restrict__ Ain, float* __restrict__ LU)
{
    __shared__ float A[16][17];
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int off = blockIdx.x * 256 + ty * 16 + tx;
    A[ty][tx] = Ain[off] + (tx == ty ? 64.0f : 0.0f);
    __syncthreads();
    for (int k = 0; k < 15; k++)
    {
        if (ty > k && tx == k) A[ty][k] /= A[k][k];
        __syncthreads();
        if (ty > k && tx > k) A[ty][tx] -= A[ty][k] * A[k][tx];
        __syncthreads();
    }
    LU[off] = A[ty][tx];
}

// class 5: Cholesky, 8x8, four matrices a block along z
__global__ void potrf8_batched(float* __restrict__ matrices, int batch)
{
    __shared__ float L[4][8][8];
    const int j = threadIdx.x, i = threadIdx.y, z = threadIdx.z;
    const int m = blockIdx.x * 4 + z;
    float v = 0.f;
    if (m < batch) v = matrices[m * 64 + max(i, j) * 8 + min(i, j)];
    L[z][i][j] = v + (i == j ? 200.f : 0.f);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++)
    {
        if (i == k && j == k) L[z][k][k] = sqrtf(L[z][k][k]);
        __syncthreads();
        if (i > k && j == k) L[z][i][k] = L[z][i][k] / L[z][k][k];
        __syncthreads();
        if (i > k && j > k && j <= i) L[z][i][j] -= L[z][i][k] * L[z][j][k];
        __syncthreads();
    }
    if (m < batch) matrices[m * 64 + i * 8 + j] = j <= i ? L[z][i][j] : 0.f;
}

#define MODP 65521u
__device__ __noinline__ unsigned int inverse_mod(unsigned int a)
{
    unsigned int r = 1, e = MODP - 2;
    while (e)
    {
        if (e & 1) r = r * a % MODP;
        a = a * a % MODP;
        e >>= 1;
    }
    return r;
}

// class 5: Gauss-Jordan inverse of an 8x8 matrix modulo a prime, augmented to 8x16
__global__ void gauss_jordan_mod(const unsigned int* in, unsigned int* out)
{
    __shared__ unsigned int M[8][16];
    __shared__ unsigned int factor[8];
    const unsigned int c = threadIdx.x, r = threadIdx.y;
    M[r][c] = c < 8 ? in[blockIdx.x * 64 + r * 8 + c] % MODP : (c - 8 == r);
    __syncthreads();
    for (unsigned int p = 0; p < 8; ++p)
    {
        if (c == 0) factor[r] = r == p ? inverse_mod(M[p][p]) : M[r][p];
        __syncthreads();
        if (r == p) M[p][c] = M[p][c] * factor[p] % MODP;
        __syncthreads();
        if (r != p) M[r][c] = (M[r][c] + MODP - factor[r] * M[p][c] % MODP) % MODP;
        __syncthreads();
    }
    if (c >= 8) out[blockIdx.x * 64 + r * 8 + c - 8] = M[r][c];
}

// class 5: parallel cyclic reduction of tridiagonal systems, one equation a thread
template <int N>
__global__ void pcr_solve(const float* A, const float* B, const float* C, const float* D, float* X)
{
    __shared__ float a[N], b[N], c[N], d[N];
    const int i = threadIdx.x;
    const int g = blockIdx.x * N + i;
    a[i] = i == 0 ? 0.f : A[g];
    b[i] = B[g] + 32.f;
    c[i] = i == N - 1 ? 0.f : C[g];
    d[i] = D[g];
    __syncthreads();
    for (int s = 1; s < N; s *= 2)
    {
        const int lo = i - s >= 0 ? i - s : 0;
        const int hi = i + s < N ? i + s : N - 1;
        const float k1 = i - s >= 0 ? a[i] / b[lo] : 0.f;
        const float k2 = i + s < N ? c[i] / b[hi] : 0.f;
        const float nb = b[i] - c[lo] * k1 - a[hi] * k2;
        const float nd = d[i] - d[lo] * k1 - d[hi] * k2;
        const float na = -a[lo] * k1;
        const float nc = -c[hi] * k2;
        __syncthreads();
        a[i] = na;
        b[i] = nb;
        c[i] = nc;
        d[i] = nd;
        __syncthreads();
    }
    X[g] = d[i] / b[i];
}

// class 5: Floyd-Warshall within 16x16 tiles
__global__ void floyd_tile(const int* dist, int* out, int n)
{
    __shared__ int D[16 * 16];
    const int x = threadIdx.x, y = threadIdx.y;
    const int g = (blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x;
    D[y * 16 + x] = dist[g];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
    {
        const int via = D[y * 16 + k] + D[k * 16 + x];
        const int old = D[y * 16 + x];
        __syncthreads();
        if (via < old) D[y * 16 + x] = via;
        __syncthreads();
    }
    out[g] = D[y * 16 + x];
}

// class 5: transitive closure of 32-vertex graphs, a row of bits a thread, four graphs a block
__global__ void closure32(const unsigned int* adj, unsigned int* reach, int graphs)
{
    __shared__ unsigned int row[4][32];
    const int v = threadIdx.x, q = threadIdx.y;
    const int gr = blockIdx.x * 4 + q;
    const bool ok = gr < graphs;
    row[q][v] = ok ? (adj[gr * 32 + v] & adj[((gr + 1) % graphs) * 32 + v] & adj[((gr + 7) % graphs) * 32 + v]) : 0u;
    __syncthreads();
    for (int k = 0; k < 32; ++k)
    {
        if (v != k && (row[q][v] >> k & 1u)) row[q][v] |= row[q][k];
        __syncthreads();
    }
    if (ok) reach[gr * 32 + v] = row[q][v];
}

// class 1: two-norm of a vector of 512, every thread divides by the root
__global__ void normalize512(const double* __restrict__ v, double* __restrict__ u)
{
    __shared__ double acc[512];
    const unsigned int t = threadIdx.x;
    const double x = v[(size_t)blockIdx.x * 512 + t];
    acc[t] = x * x;
    __syncthreads();
    for (unsigned int w = 512 >> 1; w; w >>= 1)
    {
        if (t < w) acc[t] += acc[t + w];
        __syncthreads();
    }
    u[(size_t)blockIdx.x * 512 + t] = x / sqrt(acc[0] + 1e-30);
}

// class 2: two inner products of a conjugate-gradient step, 1024 doubles each, dynamic array
__global__ void cg_dots(const double* p, const double* Ap, const double* r, double* pAp, double* rr, int n)
{
    extern __shared__ double buf[];
    double* s0 = buf;
    double* s1 = buf + blockDim.x;
    const int tid = threadIdx.x;
    double x = 0, y = 0;
    for (int i = blockIdx.x * blockDim.x + tid; i < n; i += blockDim.x * gridDim.x)
    {
        x += p[i] * Ap[i];
        y += r[i] * r[i];
    }
    s0[tid] = x;
    s1[tid] = y;
    for (int half = blockDim.x / 2; half > 0; half /= 2)
    {
        __syncthreads();
        if (tid < half)
        {
            s0[tid] += s0[tid + half];
            s1[tid] += s1[tid + half];
        }
    }
    if (tid == 0)
    {
        pAp[blockIdx.x] = s0[0];
        rr[blockIdx.x] = s1[0];
    }
}

// class 2: cyclic reduction, 512 equations in double, five arrays, two equations a thread
__global__ void crKernel(const double* d_a, const double* d_b, const double* d_c, const double* d_d, double* d_x, int systemSize, int iterations)
{
    extern __shared__ __align__(16) char raw[];
    double* a = (double*)raw;
    double* b = &a[systemSize];
    double* c = &b[systemSize];
    double* d = &c[systemSize];
    double* x = &d[systemSize];
    int thid = threadIdx.x;
    size_t base = (size_t)blockIdx.x * systemSize;

    a[thid] = thid == 0 ? 0.0 : d_a[thid + base];
    a[thid + blockDim.x] = d_a[thid + blockDim.x + base];
    b[thid] = d_b[thid + base] + 40.0;
    b[thid + blockDim.x] = d_b[thid + blockDim.x + base] + 40.0;
    c[thid] = d_c[thid + base];
    c[thid + blockDim.x] = thid + blockDim.x == systemSize - 1 ? 0.0 : d_c[thid + blockDim.x + base];
    d[thid] = d_d[thid + base];
    d[thid + blockDim.x] = d_d[thid + blockDim.x + base];
    __syncthreads();

    int stride = 1;
    int numThreads = systemSize / 2;
    for (int j = 0; j < iterations; j++)
    {
        __syncthreads();
        stride *= 2;
        int delta = stride / 2;
        if (thid < numThreads)
        {
            int i = stride * thid + stride - 1;
            int iLeft = i - delta;
            int iRight = i + delta;
            if (iRight >= systemSize) iRight = systemSize - 1;
            double tmp1 = a[i] / b[iLeft];
            double tmp2 = c[i] / b[iRight];
            b[i] = b[i] - c[iLeft] * tmp1 - a[iRight] * tmp2;
            d[i] = d[i] - d[iLeft] * tmp1 - d[iRight] * tmp2;
            a[i] = -a[iLeft] * tmp1;
            c[i] = -c[iRight] * tmp2;
        }
        numThreads /= 2;
    }
    __syncthreads();
    if (thid == 0)
    {
        int addr1 = stride - 1;
        int addr2 = 2 * stride - 1;
        double tmp3 = b[addr2] * b[addr1] - c[addr1] * a[addr2];
        x[addr1] = (b[addr2] * d[addr1] - c[addr1] * d[addr2]) / tmp3;
        x[addr2] = (d[addr2] * b[addr1] - d[addr1] * a[addr2]) / tmp3;
    }
    numThreads = 2;
    for (int j = 0; j < iterations; j++)
    {
        int delta = stride / 2;
        __syncthreads();
        if (thid < numThreads)
        {
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
    d_x[thid + base] = x[thid];
    d_x[thid + blockDim.x + base] = x[thid + blockDim.x];
}

// class 7: coordinate-format product, integer accumulators in shared memory at rows read from the data
#define ROWS_PER_BLOCK 256
__global__ void coo_spmv_shared(const int* rowIdx, const int* colIdx, const int* val, const int* x, int nnzPerBlock, int* y)
{
    __shared__ int acc[ROWS_PER_BLOCK];
    for (int i = threadIdx.x; i < ROWS_PER_BLOCK; i += blockDim.x) acc[i] = 0;
    __syncthreads();
    const size_t first = (size_t)blockIdx.x * nnzPerBlock;
    for (int e = threadIdx.x; e < nnzPerBlock; e += blockDim.x)
    {
        atomicAdd(&acc[rowIdx[first + e]], val[first + e] * x[colIdx[first + e]]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < ROWS_PER_BLOCK; i += blockDim.x) y[blockIdx.x * ROWS_PER_BLOCK + i] = acc[i];
}

int main()
{
    {
        int mats = 1 << 16;
        float *a = mk<float>((size_t)mats * 256), *b = mk<float>((size_t)mats * 256);
        lu16<<<mats, dim3(16, 16)>>>(a, b);
        show("lu16", b, (size_t)mats * 256 * 4);
        int batch = (1 << 17) - 3;
        potrf8_batched<<<CEIL_DIV(batch, 4), dim3(8, 8, 4)>>>(a, batch);
        show("potrf8_batched", a, (size_t)batch * 64 * 4);
    }
    {
        int mats = 1 << 17;
        unsigned int *m = device_random<unsigned int>((size_t)mats * 64, 65521, 1, 1), *o = mk<unsigned int>((size_t)mats * 64);
        gauss_jordan_mod<<<mats, dim3(16, 8)>>>(m, o);
        show("gauss_jordan_mod", o, (size_t)mats * 64 * 4);
        unsigned int* r = mk<unsigned int>((size_t)mats * 32);
        unsigned int* g = device_random<unsigned int>((size_t)mats * 32, 4294967291u, 2, 1);
        closure32<<<CEIL_DIV(mats - 1, 4), dim3(32, 4)>>>(g, r, mats - 1);
        show("closure32", r, (size_t)(mats - 1) * 32 * 4);
    }
    {
        int sys = 1 << 15;
        float *a = mk<float>(sys * 128), *b = mk<float>(sys * 128), *c = device_random<float>(sys * 128, 64, 3, 0.125f), *d = device_random<float>(sys * 128, 1000, 4, 0.0625f);
        float* x = mk<float>(sys * 128);
        pcr_solve<128><<<sys, 128>>>(a, b, c, d, x);
        show("pcr_solve_128", x, (size_t)sys * 128 * 4);
    }
    {
        int n = 3072;
        int *d = device_random<int>((size_t)n * n, 100000, 5, 1), *o = mk<int>((size_t)n * n);
        floyd_tile<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(d, o, n);
        show("floyd_tile", o, (size_t)n * n * 4);
    }
    {
        size_t n = 1 << 23;
        double *a = mk<double>(n), *b = device_random<double>(n, 1 << 16, 6, 1.0 / 4096), *c = mk<double>(n), *o = mk<double>(n), *q = mk<double>(1024);
        normalize512<<<(int)(n / 512), 512>>>(b, o);
        show("normalize512", o, n * 8);
        cg_dots<<<512, 1024, 2 * 1024 * sizeof(double)>>>(a, b, c, q, q + 512, (int)n - 9);
        show("cg_dots", q, 1024 * 8);
        crKernel<<<(int)(n / 512), 256, 5 * 512 * sizeof(double)>>>(a, b, c, b, o, 512, 8);
        show("crKernel", o, n * 8);
    }
    {
        int blocks = 4096, nnz = 4000;
        size_t total = (size_t)blocks * nnz;
        int *r = device_random<int>(total, ROWS_PER_BLOCK, 7, 1), *c = device_random<int>(total, 1 << 16, 8, 1), *v = device_random<int>(total, 200, 9, 1);
        int *x = device_random<int>(1 << 16, 1000, 10, 1), *y = mk<int>(blocks * ROWS_PER_BLOCK);
        coo_spmv_shared<<<blocks, 384>>>(r, c, v, x, nnz, y);
        show("coo_spmv_shared", y, (size_t)blocks * ROWS_PER_BLOCK * 4);
    }
    return 0;
}
