// k4 -- matrix products, distances, all-pairs, convolution layers.
#include "shown.h"
#include <cuda_fp16.h>
#include <cfloat>

#define IDIVUP(a, b) (((a) % (b)) ? ((a) / (b) + 1) : ((a) / (b)))

__global__ void float2halfKernel(const float *in, half *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2half_rn(in[i] * 0.125f - 0.7f);
}

/** C = A * B, all sides multiples of BLOCK_SIZE. */
template <int BLOCK_SIZE>
__global__ void MatrixMulCUDA(float *C, const float *A, const float *B, int wA, int wB)
{
    int bx = blockIdx.x;
    int by = blockIdx.y;
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int aBegin = wA * BLOCK_SIZE * by;
    int aEnd = aBegin + wA - 1;
    int aStep = BLOCK_SIZE;
    int bBegin = BLOCK_SIZE * bx;
    int bStep = BLOCK_SIZE * wB;
    float Csub = 0;

    for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
        __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
        As[ty][tx] = A[a + wA * ty + tx];
        Bs[ty][tx] = B[b + wB * ty + tx];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BLOCK_SIZE; ++k)
            Csub += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    int c = wB * BLOCK_SIZE * by + BLOCK_SIZE * bx;
    C[c + wB * ty + tx] = Csub;
}

/** dgemm with alpha and beta, borders guarded with zeros. */
#define TILE_WIDTH 16
__global__ void dgemm_tiled(int M, int N, int K, double alpha, const double *A, const double *B, double beta, double *C)
{
    __shared__ double Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ double Nds[TILE_WIDTH][TILE_WIDTH];
    int Row = blockIdx.y * TILE_WIDTH + threadIdx.y;
    int Col = blockIdx.x * TILE_WIDTH + threadIdx.x;
    double Pvalue = 0.0;
    for (int ph = 0; ph < (K - 1) / TILE_WIDTH + 1; ++ph) {
        if (Row < M && ph * TILE_WIDTH + threadIdx.x < K)
            Mds[threadIdx.y][threadIdx.x] = A[Row * K + ph * TILE_WIDTH + threadIdx.x];
        else
            Mds[threadIdx.y][threadIdx.x] = 0.0;
        if (ph * TILE_WIDTH + threadIdx.y < K && Col < N)
            Nds[threadIdx.y][threadIdx.x] = B[(ph * TILE_WIDTH + threadIdx.y) * N + Col];
        else
            Nds[threadIdx.y][threadIdx.x] = 0.0;
        __syncthreads();
        for (int k = 0; k < TILE_WIDTH; ++k)
            Pvalue += Mds[threadIdx.y][k] * Nds[k][threadIdx.x];
        __syncthreads();
    }
    if (Row < M && Col < N) C[Row * N + Col] = alpha * Pvalue + beta * C[Row * N + Col];
}

/** Register blocking: BM x BN outputs by a 1-D block, TM x TN each. */
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void sgemm2DBlocktiling(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    const uint cRow = blockIdx.y;
    const uint cCol = blockIdx.x;
    const uint numThreads = (BM * BN) / (TM * TN);
    const int threadCol = threadIdx.x % (BN / TN);
    const int threadRow = threadIdx.x / (BN / TN);
    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];
    A += cRow * BM * K;
    B += cCol * BN;
    C += cRow * BM * N + cCol * BN;
    const uint innerRowA = threadIdx.x / BK, innerColA = threadIdx.x % BK, strideA = numThreads / BK;
    const uint innerRowB = threadIdx.x / BN, innerColB = threadIdx.x % BN, strideB = numThreads / BN;
    float threadResults[TM * TN] = {0.0};
    float regM[TM] = {0.0}, regN[TN] = {0.0};
    for (uint bkIdx = 0; bkIdx < K; bkIdx += BK) {
        for (uint loadOffset = 0; loadOffset < BM; loadOffset += strideA)
            As[(innerRowA + loadOffset) * BK + innerColA] = A[(innerRowA + loadOffset) * K + innerColA];
        for (uint loadOffset = 0; loadOffset < BK; loadOffset += strideB)
            Bs[(innerRowB + loadOffset) * BN + innerColB] = B[(innerRowB + loadOffset) * N + innerColB];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
            for (uint i = 0; i < TM; ++i) regM[i] = As[(threadRow * TM + i) * BK + dotIdx];
            for (uint i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
            for (uint m = 0; m < TM; ++m)
                for (uint n = 0; n < TN; ++n) threadResults[m * TN + n] += regM[m] * regN[n];
        }
        __syncthreads();
    }
    for (uint m = 0; m < TM; ++m)
        for (uint n = 0; n < TN; ++n) {
            float *c = &C[(threadRow * TM + m) * N + threadCol * TN + n];
            *c = alpha * threadResults[m * TN + n] + beta * *c;
        }
}

/** half inputs, B given transposed, float sums. */
__global__ void hgemm_nt(const half *__restrict__ a, const half *__restrict__ bt, half *__restrict__ c, int m, int n, int k)
{
    __shared__ half sa[32][32 + 2];
    __shared__ half sb[32][32 + 2];
    const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    float acc[4] = {0.f, 0.f, 0.f, 0.f};
    for (int kk = 0; kk < k; kk += 32) {
        for (int r = threadIdx.y; r < 32; r += 8) {
            sa[r][threadIdx.x] = (row0 + r < m && kk + threadIdx.x < k) ? a[(row0 + r) * k + kk + threadIdx.x] : __float2half(0.f);
            sb[r][threadIdx.x] = (col0 + r < n && kk + threadIdx.x < k) ? bt[(col0 + r) * k + kk + threadIdx.x] : __float2half(0.f);
        }
        __syncthreads();
        for (int p = 0; p < 32; p++) {
            float bv = __half2float(sb[threadIdx.x][p]);
#pragma unroll
            for (int q = 0; q < 4; q++) acc[q] += __half2float(sa[threadIdx.y + 8 * q][p]) * bv;
        }
        __syncthreads();
    }
#pragma unroll
    for (int q = 0; q < 4; q++) {
        int r = row0 + threadIdx.y + 8 * q, cc = col0 + threadIdx.x;
        if (r < m && cc < n) c[r * n + cc] = __float2half(acc[q]);
    }
}

/** Covariance-like product A^T A, only the lower triangle computed; the upper gets zero. */
__global__ void syrk_lower(const float *A, float *S, int rows, int cols)
{
    __shared__ float left[32][16], right[32][16];
    const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    if (blockIdx.x <= blockIdx.y) {
        for (int r0 = 0; r0 < rows; r0 += 32) {
            for (int rr = threadIdx.y; rr < 32; rr += 16) {
                int r = r0 + rr;
                int ci = blockIdx.y * 16 + threadIdx.x;
                left[rr][threadIdx.x] = (r < rows && ci < cols) ? A[r * cols + ci] : 0;
                right[rr][threadIdx.x] = (r < rows && j < cols) ? A[r * cols + j] : 0;
            }
            __syncthreads();
            for (int rr = 0; rr < 32; rr++) sum = fmaf(left[rr][threadIdx.y], right[rr][threadIdx.x], sum);
            __syncthreads();
        }
    }
    if (i < cols && j < cols) S[i * cols + j] = j <= i ? sum / (rows - 1) : 0.f;
}

/** n-body, GPU Gems 3. */
struct vec3 { float x, y, z; };
__device__ vec3 bodyBodyInteraction(float4 bi, float4 bj, vec3 ai, float eps2)
{
    vec3 r;
    r.x = bj.x - bi.x;
    r.y = bj.y - bi.y;
    r.z = bj.z - bi.z;
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + eps2;
    float invDist = rsqrtf(distSqr);
    float s = bj.w * invDist * invDist * invDist;
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}
__global__ void calculate_forces(const float4 *globalX, float4 *globalA, int N, float eps2)
{
    extern __shared__ float4 shPosition[];
    vec3 acc = {0.0f, 0.0f, 0.0f};
    int gtid = blockIdx.x * blockDim.x + threadIdx.x;
    float4 myPosition = gtid < N ? globalX[gtid] : make_float4(0, 0, 0, 0);
    for (int i = 0, tile = 0; i < N; i += blockDim.x, tile++) {
        int idx = tile * blockDim.x + threadIdx.x;
        shPosition[threadIdx.x] = idx < N ? globalX[idx] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < (int)blockDim.x; j++) acc = bodyBodyInteraction(myPosition, shPosition[j], acc, eps2);
        __syncthreads();
    }
    if (gtid < N) globalA[gtid] = make_float4(acc.x, acc.y, acc.z, 0.0f);
}

/** Squared distances of reference and query points (columns are points), as in knn_cuda. */
#define BLOCK_DIM 16
__global__ void compute_distances(const float *ref, int ref_width, const float *query, int query_width, int height, float *dist)
{
    __shared__ float shared_A[BLOCK_DIM][BLOCK_DIM];
    __shared__ float shared_B[BLOCK_DIM][BLOCK_DIM];
    __shared__ int begin_A, begin_B;
    int tx = threadIdx.x, ty = threadIdx.y;
    float ssd = 0.f;
    if (tx == 0 && ty == 0) {
        begin_A = BLOCK_DIM * blockIdx.y;
        begin_B = BLOCK_DIM * blockIdx.x;
    }
    __syncthreads();
    int cond0 = begin_A + tx < ref_width;
    int cond1 = begin_B + tx < query_width;
    int cond2 = begin_A + ty < ref_width;
    for (int h = 0; h < height; h += BLOCK_DIM) {
        if (h + ty < height) {
            shared_A[ty][tx] = cond0 ? ref[(h + ty) * ref_width + begin_A + tx] : 0;
            shared_B[ty][tx] = cond1 ? query[(h + ty) * query_width + begin_B + tx] : 0;
        } else {
            shared_A[ty][tx] = 0;
            shared_B[ty][tx] = 0;
        }
        __syncthreads();
        if (cond2 && cond1) {
            for (int k = 0; k < BLOCK_DIM; ++k) {
                float tmp = shared_A[k][ty] - shared_B[k][tx];
                ssd += tmp * tmp;
            }
        }
        __syncthreads();
    }
    if (cond2 && cond1) dist[(begin_A + ty) * query_width + begin_B + tx] = ssd;
}

/** k-means assignment, centroids staged in dynamic shared memory. */
template <int DIM>
__global__ void kmeans_assign(const float *pts, const float *centroids, int *label, float *d2, int n, int K)
{
    extern __shared__ float sc[];
    for (int i = threadIdx.x; i < K * DIM; i += blockDim.x) sc[i] = centroids[i] * ((i * 31) % 17) * 0.1f;
    __syncthreads();
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < n; p += gridDim.x * blockDim.x) {
        float my[DIM];
#pragma unroll
        for (int d = 0; d < DIM; d++) my[d] = pts[d * n + p];
        float best = FLT_MAX;
        int arg = 0;
        for (int k = 0; k < K; k++) {
            float s = 0;
#pragma unroll
            for (int d = 0; d < DIM; d++) {
                float t = my[d] - sc[k * DIM + d];
                s += t * t;
            }
            if (s < best) { best = s; arg = k; }
        }
        label[p] = arg;
        d2[p] = best;
    }
}

/** forward convolution layer, tile of the input and the K x K weights per channel (PMPP). */
#define CONV_T 16
__global__ void ConvLayerForward(int C, int M, int H, int W, int K, int W_grid, const float *X, const float *Wt, float *Y)
{
    extern __shared__ float shmem[];
    const int X_tile_width = CONV_T + K - 1;
    float *X_shared = &shmem[0];
    float *W_shared = &shmem[X_tile_width * X_tile_width];
    const int H_out = H - K + 1, W_out = W - K + 1;
    const int n = blockIdx.x, m = blockIdx.y;
    const int h0 = threadIdx.x, w0 = threadIdx.y;
    const int h_base = (blockIdx.z / W_grid) * CONV_T, w_base = (blockIdx.z % W_grid) * CONV_T;
    const int h = h_base + h0, w = w_base + w0;
    float acc = 0.f;
    for (int c = 0; c < C; c++) {
        if (h0 < K && w0 < K) W_shared[h0 * K + w0] = Wt[((m * C + c) * K + h0) * K + w0];
        for (int i = h; i < h_base + X_tile_width; i += CONV_T)
            for (int j = w; j < w_base + X_tile_width; j += CONV_T)
                X_shared[(i - h_base) * X_tile_width + j - w_base] = (i < H && j < W) ? X[((n * C + c) * H + i) * W + j] : 0.f;
        __syncthreads();
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                acc += X_shared[(h0 + p) * X_tile_width + w0 + q] * W_shared[p * K + q];
        __syncthreads();
    }
    if (h < H_out && w < W_out) Y[((n * M + m) * H_out + h) * W_out + w] = acc;
}

/** y = A x: a thread per row, column-major A, x in tiles. */
__global__ void gemv_n(int m, int n, double alpha, const double *A, int lda, const double *x, double *y)
{
    __shared__ double xs[128];
    const int row = blockIdx.x * 128 + threadIdx.x;
    double res = 0;
    for (int j0 = 0; j0 < n; j0 += 128) {
        xs[threadIdx.x] = (j0 + threadIdx.x < n) ? alpha * x[j0 + threadIdx.x] : 0;
        __syncthreads();
        const int lim = min(128, n - j0);
        if (row < m)
            for (int j = 0; j < lim; j++) res += A[row + (size_t)lda * (j0 + j)] * xs[j];
        __syncthreads();
    }
    if (row < m) y[row] = res;
}

/** batch of 8x8 products, four matrices a block. */
__global__ void batched_mm8(const float *a, const float *b, float *c, int batch)
{
    __shared__ float sa[4][8][8];
    __shared__ float sb[4][8][8];
    int mtx = blockIdx.x * 4 + threadIdx.z;
    int e = mtx * 64 + threadIdx.y * 8 + threadIdx.x;
    if (mtx < batch) {
        sa[threadIdx.z][threadIdx.y][threadIdx.x] = a[e];
        sb[threadIdx.z][threadIdx.y][threadIdx.x] = b[e];
    }
    __syncthreads();
    if (mtx >= batch) return;
    float s = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) s += sa[threadIdx.z][threadIdx.y][k] * sb[threadIdx.z][k][threadIdx.x];
    c[e] = s;
}

/** Coulomb potential on a plane; atoms pass through shared memory in chunks. */
#define ATOM_CHUNK 128
__global__ void cenergy(int numatoms, float gridspacing, const float4 *atominfo, float *energygrid, int nx, int ny)
{
    __shared__ float4 atoms[ATOM_CHUNK];
    int xi = blockIdx.x * blockDim.x + threadIdx.x, yi = blockIdx.y * blockDim.y + threadIdx.y;
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    float coorx = gridspacing * xi, coory = gridspacing * yi, energyval = 0.0f;
    for (int base = 0; base < numatoms; base += ATOM_CHUNK) {
        int cnt = min(ATOM_CHUNK, numatoms - base);
        if (t < cnt) atoms[t] = atominfo[base + t];
        __syncthreads();
        for (int i = 0; i < cnt; i++) {
            float dx = coorx - atoms[i].x, dy = coory - atoms[i].y;
            energyval += atoms[i].w * rsqrtf(dx * dx + dy * dy + atoms[i].z * atoms[i].z + 0.01f);
        }
        __syncthreads();
    }
    if (xi < nx && yi < ny) energygrid[yi * nx + xi] = energyval;
}

int main()
{
    {
        int hA = 1600, wA = 1280, wB = 1920;
        float *A = mk<float>((size_t)hA * wA), *B = mk<float>((size_t)wA * wB), *C = mk<float>((size_t)hA * wB);
        MatrixMulCUDA<32><<<dim3(wB / 32, hA / 32), dim3(32, 32)>>>(C, A, B, wA, wB);
        show("MatrixMul32", C, 4ull * hA * wB);
        MatrixMulCUDA<16><<<dim3(wB / 16, hA / 16), dim3(16, 16)>>>(C, A, B, wA, wB);
        show("MatrixMul16", C, 4ull * hA * wB);
    }
    {
        int M = 1001, N = 1203, K = 1111;
        double *A = mk<double>(M * K), *B = mk<double>(K * N), *C = mk<double>(M * N);
        dgemm_tiled<<<dim3(IDIVUP(N, TILE_WIDTH), IDIVUP(M, TILE_WIDTH)), dim3(TILE_WIDTH, TILE_WIDTH)>>>(M, N, K, 1.5, A, B, 0.25, C);
        show("dgemm_tiled", C, 8ull * M * N);
    }
    {
        int M = 2048, N = 2304, K = 2048;
        float *A = mk<float>(M * K), *B = mk<float>(K * N), *C = mk<float>(M * N);
        sgemm2DBlocktiling<64, 64, 8, 8, 8><<<dim3(N / 64, M / 64), 64>>>(M, N, K, 0.5f, A, B, 2.0f, C);
        show("sgemm2D_64", C, 4ull * M * N);
        sgemm2DBlocktiling<128, 128, 8, 8, 8><<<dim3(N / 128, M / 128), 256>>>(M, N, K, 0.5f, A, B, 0.0f, C);
        show("sgemm2D_128", C, 4ull * M * N);
    }
    {
        int m = 1500, n = 1400, k = 1000;
        float *fa = mk<float>(m * k), *fb = mk<float>(n * k);
        half *a, *b, *c;
        cudaMalloc(&a, 2ull * m * k);
        cudaMalloc(&b, 2ull * n * k);
        cudaMalloc(&c, 2ull * m * n);
        float2halfKernel<<<IDIVUP(m * k, 256), 256>>>(fa, a, m * k);
        float2halfKernel<<<IDIVUP(n * k, 256), 256>>>(fb, b, n * k);
        hgemm_nt<<<dim3(IDIVUP(n, 32), IDIVUP(m, 32)), dim3(32, 8)>>>(a, b, c, m, n, k);
        show("hgemm_nt", c, 2ull * m * n);
    }
    {
        int rows = 2000, cols = 1100;
        float *A = mk<float>(rows * cols), *S = mk<float>(cols * cols);
        syrk_lower<<<dim3(IDIVUP(cols, 16), IDIVUP(cols, 16)), dim3(16, 16)>>>(A, S, rows, cols);
        show("syrk_lower", S, 4ull * cols * cols);
    }
    {
        int N = 30000;
        float *p = mk<float>(4 * N), *a = mk<float>(4 * N);
        calculate_forces<<<IDIVUP(N, 256), 256, 256 * sizeof(float4)>>>((float4 *)p, (float4 *)a, N, 0.25f);
        show("calculate_forces", a, 16ull * N);
        int nx = 2000, ny = 1500;
        float *e = mk<float>(nx * ny);
        cenergy<<<dim3(IDIVUP(nx, 16), IDIVUP(ny, 8)), dim3(16, 8)>>>(1000, 0.01f, (float4 *)p, e, nx, ny);
        show("cenergy", e, 4ull * nx * ny);
    }
    {
        int rw = 4000, qw = 3001, h = 70;
        float *r = mk<float>(rw * h), *q = mk<float>(qw * h), *d = mk<float>((size_t)rw * qw);
        compute_distances<<<dim3(IDIVUP(qw, 16), IDIVUP(rw, 16)), dim3(16, 16)>>>(r, rw, q, qw, h, d);
        show("compute_distances", d, 4ull * rw * qw);
    }
    {
        int n = 4500000, K = 50;
        float *p = mk<float>((size_t)n * 4), *c = mk<float>(K * 4), *d2 = mk<float>(n);
        int *l = mk<int>(n);
        kmeans_assign<4><<<1056, 256, K * 4 * sizeof(float)>>>(p, c, l, d2, n, K);
        show("kmeans_label", l, 4ull * n);
        show("kmeans_d2", d2, 4ull * n);
    }
    {
        int n = 16, C = 12, M = 24, H = 110, W = 97, K = 5, ho = H - K + 1, wo = W - K + 1;
        int wg = IDIVUP(wo, CONV_T), hg = IDIVUP(ho, CONV_T), xt = CONV_T + K - 1;
        float *X = mk<float>(n * C * H * W), *Wt = mk<float>(M * C * K * K), *Y = mk<float>(n * M * ho * wo);
        ConvLayerForward<<<dim3(n, M, wg * hg), dim3(CONV_T, CONV_T), (xt * xt + K * K) * sizeof(float)>>>(C, M, H, W, K, wg, X, Wt, Y);
        show("ConvLayerForward", Y, 4ull * n * M * ho * wo);
    }
    {
        int m = 4001, n = 3500;
        double *A = mk<double>((size_t)m * n), *x = mk<double>(n), *y = mk<double>(m);
        gemv_n<<<IDIVUP(m, 128), 128>>>(m, n, 0.5, A, m, x, y);
        show("gemv_n", y, 8ull * m);
        int batch = 100003;
        float *a = mk<float>(batch * 64), *b = mk<float>(batch * 64), *c = mk<float>(batch * 64);
        batched_mm8<<<IDIVUP(batch, 4), dim3(8, 8, 4)>>>(a, b, c, batch);
        show("batched_mm8", c, 256ull * batch);
    }
    return 0;
}
