// matrix products and friends
#include "shown.h"
#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <vector>

namespace cg = cooperative_groups;

static half *random_half(size_t n)
{
    std::vector<half> v(n);
    unsigned s = 1;
    for (auto &e : v) { s = s * 1664525u + 1013904223u; e = __float2half((float)(s >> 28) * 0.125f - 1.f); }
    half *p = nullptr;
    cudaMalloc((void **)&p, n * sizeof(half));
    cudaMemcpy(p, v.data(), n * sizeof(half), cudaMemcpyHostToDevice);
    return p;
}

//////////////////////////////////////////////////////////////////////////// (1) lecture version with guards
#define TILE 16
__global__ void MatMulShared(float* A, float* B, float* C, int ARows, int ACols, int BRows, int BCols, int CRows, int CCols)
{
    float CValue = 0;

    int Row = blockIdx.y * TILE + threadIdx.y;
    int Col = blockIdx.x * TILE + threadIdx.x;

    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];

    for (int k = 0; k < (TILE + ACols - 1) / TILE; k++) {
        if (k * TILE + threadIdx.x < ACols && Row < ARows)
            As[threadIdx.y][threadIdx.x] = A[Row * ACols + k * TILE + threadIdx.x];
        else
            As[threadIdx.y][threadIdx.x] = 0.0;

        if (k * TILE + threadIdx.y < BRows && Col < BCols)
            Bs[threadIdx.y][threadIdx.x] = B[(k * TILE + threadIdx.y) * BCols + Col];
        else
            Bs[threadIdx.y][threadIdx.x] = 0.0;

        __syncthreads();

        for (int n = 0; n < TILE; ++n)
            CValue += As[threadIdx.y][n] * Bs[n][threadIdx.x];

        __syncthreads();
    }

    if (Row < CRows && Col < CCols)
        C[((blockIdx.y * blockDim.y + threadIdx.y) * CCols) + (blockIdx.x * blockDim.x) + threadIdx.x] = CValue;
}

//////////////////////////////////////////////////////////////////////////// (2) C = alpha*A^T*B + beta*C, column major
#define BM 64
#define BN 64
#define BK 16
#define TM 4
#define TN 4
#define A_(i, j) A[(i) + (size_t)(j) * lda]
#define B_(i, j) B[(i) + (size_t)(j) * ldb]
#define C_(i, j) C[(i) + (size_t)(j) * ldc]

__global__ void __launch_bounds__(256) sgemm_tn_64x64(int m, int n, int k, float alpha, const float *A, int lda, const float *B, int ldb, float beta, float *C, int ldc)
{
    __shared__ float sA[BK][BM + 1];
    __shared__ float sB[BK][BN + 1];
    const int tid = threadIdx.x;
    const int tr = tid % 16, tc = tid / 16;
    const int row0 = blockIdx.x * BM, col0 = blockIdx.y * BN;

    float rC[TN][TM];
    for (int j = 0; j < TN; j++)
        for (int i = 0; i < TM; i++) rC[j][i] = 0.f;

    for (int kk = 0; kk < k; kk += BK) {
        for (int s = 0; s < BM / 16; s++) {
            int l = tid % BK, x = tid / BK + 16 * s;
            sA[l][x] = (kk + l < k && row0 + x < m) ? A_(kk + l, row0 + x) : 0.f;
            sB[l][x] = (kk + l < k && col0 + x < n) ? B_(kk + l, col0 + x) : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int l = 0; l < BK; l++) {
            float ra[TM], rb[TN];
            for (int i = 0; i < TM; i++) ra[i] = sA[l][tr + 16 * i];
            for (int j = 0; j < TN; j++) rb[j] = sB[l][tc + 16 * j];
            for (int j = 0; j < TN; j++)
                for (int i = 0; i < TM; i++) rC[j][i] += ra[i] * rb[j];
        }
        __syncthreads();
    }
    for (int j = 0; j < TN; j++) {
        int col = col0 + tc + 16 * j;
        if (col >= n) break;
        for (int i = 0; i < TM; i++) {
            int row = row0 + tr + 16 * i;
            if (row >= m) break;
            C_(row, col) = beta == 0.f ? alpha * rC[j][i] : alpha * rC[j][i] + beta * C_(row, col);
        }
    }
}
#undef A_
#undef B_
#undef C_

//////////////////////////////////////////////////////////////////////////// (3) half precision, half2 along n
__global__ void hgemm_half2(const half2 *__restrict__ a, const half2 *__restrict__ b, half2 *__restrict__ c, int M, int N2, int K2)
{
    // a: M x K (K2 pairs), b: K x N (N2 pairs); 32 x 32 pairs per block of 32 x 8 threads
    __shared__ half2 as[32][16 + 1];
    __shared__ half2 bs[32][32];
    half2 sum[4];
    for (int i = 0; i < 4; i++) sum[i] = __float2half2_rn(0.f);
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int n = blockIdx.x * 32 + tx;
    for (int k0 = 0; k0 < K2; k0 += 16) {
        for (int i = 0; i < 4; i++) {
            int r = ty + 8 * i;
            int gr = blockIdx.y * 32 + r;
            if (tx < 16) as[r][tx] = (gr < M && k0 + tx < K2) ? a[(size_t)gr * K2 + k0 + tx] : __float2half2_rn(0.f);
            int gk = 2 * k0 + r;
            bs[r][tx] = (gk < 2 * K2 && n < N2) ? b[(size_t)gk * N2 + n] : __float2half2_rn(0.f);
        }
        __syncthreads();
        for (int kk = 0; kk < 16; kk++) {
            half2 b0 = bs[2 * kk][tx], b1 = bs[2 * kk + 1][tx];
            for (int i = 0; i < 4; i++) {
                half2 av = as[ty + 8 * i][kk];
                sum[i] = __hfma2(__low2half2(av), b0, sum[i]);
                sum[i] = __hfma2(__high2half2(av), b1, sum[i]);
            }
        }
        __syncthreads();
    }
    if (n < N2)
        for (int i = 0; i < 4; i++) {
            int gr = blockIdx.y * 32 + ty + 8 * i;
            if (gr < M) c[(size_t)gr * N2 + n] = sum[i];
        }
}

//////////////////////////////////////////////////////////////////////////// (4) double buffered dgemm NT
template <int T, int KB>
struct Stage {
    double a[KB][T];
    double b[KB][T];
    __device__ void fill(const double *A, const double *B, int ra, int rb, int m, int n, int k0, int k, int tid, int nth)
    {
        for (int e = tid; e < KB * T; e += nth) {
            int kk = e % KB, r = e / KB;
            a[kk][r] = (ra + r < m && k0 + kk < k) ? A[(size_t)(ra + r) * k + k0 + kk] : 0.0;
            b[kk][r] = (rb + r < n && k0 + kk < k) ? B[(size_t)(rb + r) * k + k0 + kk] : 0.0;
        }
    }
};

template <int T, int KB>
__global__ void dgemm_nt_pingpong(const double *A, const double *B, double *C, int m, int n, int k)
{
    __shared__ Stage<T, KB> st[2];
    const int tid = threadIdx.y * blockDim.x + threadIdx.x;
    const int nth = blockDim.x * blockDim.y;
    const int ra = blockIdx.y * T, rb = blockIdx.x * T;
    double c00 = 0, c01 = 0, c10 = 0, c11 = 0;
    int w = 0;
    st[0].fill(A, B, ra, rb, m, n, 0, k, tid, nth);
    __syncthreads();
    for (int k0 = 0; k0 < k; k0 += KB) {
        if (k0 + KB < k) st[w ^ 1].fill(A, B, ra, rb, m, n, k0 + KB, k, tid, nth);
        const Stage<T, KB> &s = st[w];
        for (int i = 0; i < KB; ++i) {
            double a0 = s.a[i][threadIdx.y], a1 = s.a[i][threadIdx.y + T / 2];
            double b0 = s.b[i][threadIdx.x], b1 = s.b[i][threadIdx.x + T / 2];
            c00 += a0 * b0; c01 += a0 * b1;
            c10 += a1 * b0; c11 += a1 * b1;
        }
        __syncthreads();
        w ^= 1;
    }
    int r = ra + threadIdx.y, c = rb + threadIdx.x;
    if (r < m && c < n) C[(size_t)r * n + c] = c00;
    if (r < m && c + T / 2 < n) C[(size_t)r * n + c + T / 2] = c01;
    if (r + T / 2 < m && c < n) C[(size_t)(r + T / 2) * n + c] = c10;
    if (r + T / 2 < m && c + T / 2 < n) C[(size_t)(r + T / 2) * n + c + T / 2] = c11;
}

//////////////////////////////////////////////////////////////////////////// (5) transpose, diagonal block order
#define TILE_DIM 32
#define BLOCK_ROWS 8
__global__ void transposeDiagonal(float2 *odata, const float2 *idata, int width, int height)
{
    cg::thread_block cta = cg::this_thread_block();
    __shared__ float2 tile[TILE_DIM][TILE_DIM + 1];

    int blockIdx_x, blockIdx_y;
    int bid = blockIdx.x + gridDim.x * blockIdx.y;
    blockIdx_y = bid % gridDim.y;
    blockIdx_x = ((bid / gridDim.y) + blockIdx_y) % gridDim.x;

    int xIndex = blockIdx_x * TILE_DIM + threadIdx.x;
    int yIndex = blockIdx_y * TILE_DIM + threadIdx.y;
    int index_in = xIndex + yIndex * width;

    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS)
        if (xIndex < width && yIndex + i < height) tile[threadIdx.y + i][threadIdx.x] = idata[index_in + i * width];

    cg::sync(cta);

    xIndex = blockIdx_y * TILE_DIM + threadIdx.x;
    yIndex = blockIdx_x * TILE_DIM + threadIdx.y;
    int index_out = xIndex + yIndex * height;
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS)
        if (xIndex < height && yIndex + i < width) odata[index_out + i * height] = tile[threadIdx.x][threadIdx.y + i];
}

//////////////////////////////////////////////////////////////////////////// (6) syrk, lower triangle only
__global__ void ssyrk_lower(int n, int k, float alpha, const float *__restrict__ A, float beta, float *__restrict__ C)
{
    if (blockIdx.x > blockIdx.y) return;         // strictly upper tile
    extern __shared__ float sm[];
    float (*Ai)[33] = (float (*)[33])sm;
    float (*Aj)[33] = (float (*)[33])(sm + 32 * 33);
    const int tx = threadIdx.x, ty = threadIdx.y;       // 32 x 4
    float acc[8] = {};
    int kleft = k;
    for (int k0 = 0; kleft > 0; k0 += 32, kleft -= 32) {
        const int lim = min(kleft, 32);
        for (int r = ty; r < 32; r += 4) {
            int i = blockIdx.y * 32 + r, j = blockIdx.x * 32 + r;
            Ai[r][tx] = (tx < lim && i < n) ? A[(size_t)i * k + k0 + tx] : 0.f;
            Aj[r][tx] = (tx < lim && j < n) ? A[(size_t)j * k + k0 + tx] : 0.f;
        }
        __syncthreads();
        for (int l = 0; l < lim; ++l) {
            float bj = Aj[tx][l];
#pragma unroll
            for (int q = 0; q < 8; ++q) acc[q] += Ai[ty + 4 * q][l] * bj;
        }
        __syncthreads();
    }
#pragma unroll
    for (int q = 0; q < 8; ++q) {
        int i = blockIdx.y * 32 + ty + 4 * q, j = blockIdx.x * 32 + tx;
        if (i < n && j <= i) C[(size_t)i * n + j] = alpha * acc[q] + beta * C[(size_t)i * n + j];
    }
}

//////////////////////////////////////////////////////////////////////////// (7) batch of small complex products  C = A * conj(B)
template <int D, int PERBLOCK>
__global__ void cgemm_batched_small(const float2 *A, const float2 *B, float2 *C, int batch)
{
    __shared__ float2 a[PERBLOCK][D * D], b[PERBLOCK][D * D];
    const int z = threadIdx.z, e = threadIdx.y * D + threadIdx.x;
    const int mat = blockIdx.x * PERBLOCK + z;
    if (mat < batch) {
        a[z][e] = A[(size_t)mat * D * D + e];
        b[z][e] = B[(size_t)mat * D * D + e];
    }
    __syncthreads();
    if (mat >= batch) return;
    float2 s = make_float2(0.f, 0.f);
#pragma unroll 3
    for (int l = 0; l < D; ++l) {
        const float2 p = a[z][threadIdx.y * D + l], q = b[z][l * D + threadIdx.x];
        s.x += p.x * q.x + p.y * q.y;
        s.y += p.y * q.x - p.x * q.y;
    }
    C[(size_t)mat * D * D + e] = s;
}

//////////////////////////////////////////////////////////////////////////// (8) y = A x with x staged in chunks, one 8-lane tile per row
__global__ void gemv_tiled_x(const double *A, const double *x, double *y, int rows, int cols)
{
    __shared__ double xs[500];
    cg::thread_block blk = cg::this_thread_block();
    cg::thread_block_tile<8> t8 = cg::tiled_partition<8>(blk);
    const int row = blk.group_index().x * (blk.size() / 8) + t8.meta_group_rank();
    double sum = 0.0;
    for (int c0 = 0; c0 < cols; c0 += 500) {
        const int len = min(500, cols - c0);
        for (int i = blk.thread_rank(); i < len; i += blk.size()) xs[i] = x[c0 + i];
        blk.sync();
        if (row < rows)
            for (int i = t8.thread_rank(); i < len; i += t8.size()) sum += A[(size_t)row * cols + c0 + i] * xs[i];
        blk.sync();
    }
    sum = cg::reduce(t8, sum, cg::plus<double>());
    if (t8.thread_rank() == 0 && row < rows) y[row] = sum;
}

int main()
{
    float *a = mk<float>(1 << 24), *b = mk<float>(1 << 24), *c = mk<float>(1 << 24);
    {
        int m = 1777, k = 1111, n = 1555;
        dim3 dimBlock(TILE, TILE, 1);
        dim3 dimGrid;
        dimGrid.x = (n + dimBlock.x - 1) / dimBlock.x;
        dimGrid.y = (m + dimBlock.y - 1) / dimBlock.y;
        MatMulShared<<<dimGrid, dimBlock>>>(a, b, c, m, k, k, n, m, n);
        show("MatMulShared", c, (size_t)m * n * 4);

        int m2 = 2050, n2 = 1999, k2 = 1234;
        sgemm_tn_64x64<<<dim3((m2 + BM - 1) / BM, (n2 + BN - 1) / BN), 256>>>(m2, n2, k2, 0.5f, a, k2 + 6, b, k2 + 6, 1.5f, c, m2 + 2);
        show("sgemm_tn_64x64", c, (size_t)(m2 + 2) * n2 * 4);

        int ns = 2300, ks = 700;
        dim3 gs((ns + 31) / 32, (ns + 31) / 32);
        ssyrk_lower<<<gs, dim3(32, 4), 2 * 32 * 33 * sizeof(float)>>>(ns, ks, 1.25f, a, 0.75f, c);
        show("ssyrk_lower", c, (size_t)ns * ns * 4);
    }
    {
        int M = 2000, N = 2100, K = 1500;
        half *ha = random_half((size_t)M * K), *hb = random_half((size_t)K * N), *hc = random_half((size_t)M * N);
        hgemm_half2<<<dim3((N / 2 + 31) / 32, (M + 31) / 32), dim3(32, 8)>>>((half2 *)ha, (half2 *)hb, (half2 *)hc, M, N / 2, K / 2);
        show("hgemm_half2", hc, (size_t)M * N * 2);
    }
    {
        int m = 1501, n = 1403, k = 1100;
        double *da = mk<double>((size_t)m * k), *db = mk<double>((size_t)n * k), *dc = mk<double>((size_t)m * n);
        dgemm_nt_pingpong<32, 8><<<dim3((n + 31) / 32, (m + 31) / 32), dim3(16, 16)>>>(da, db, dc, m, n, k);
        show("dgemm_nt_pingpong", dc, (size_t)m * n * 8);
        int rows = 5000, cols = 3333;
        double *A = mk<double>((size_t)rows * cols), *x = mk<double>(cols), *y = mk<double>(rows);
        gemv_tiled_x<<<(rows + 15) / 16, 128>>>(A, x, y, rows, cols);
        show("gemv_tiled_x", y, (size_t)rows * 8);
    }
    {
        int w = 3333, h = 2468;
        transposeDiagonal<<<dim3((w + 31) / 32, (h + 31) / 32), dim3(TILE_DIM, BLOCK_ROWS)>>>((float2 *)c, (const float2 *)a, w, h);
        show("transposeDiagonal", c, (size_t)w * h * 8);
    }
    {
        int batch = 60001;
        const int D = 9, P = 3;
        cgemm_batched_small<D, P><<<(batch + P - 1) / P, dim3(D, D, P)>>>((float2 *)a, (float2 *)b, (float2 *)c, batch);
        show("cgemm_batched_small", c, (size_t)batch * D * D * 8);
    }
    return 0;
}
