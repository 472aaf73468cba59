// More products: int8, half inputs, complex, register-blocked SGEMM, convolution as implicit GEMM
#include "shown.h"
#include <cuda_fp16.h>
#include <cstdint>

// int8 x int8 -> int32 with per row/column scale (quantised linear layer)
#define QT 32
__global__ void gemm_s8_tile(const int8_t *__restrict__ x, const int8_t *__restrict__ w, const float *__restrict__ sx,
                             const float *__restrict__ sw, float *__restrict__ y, int M, int N, int K)
{
    __shared__ int8_t xs[QT][QT];
    __shared__ int8_t ws[QT][QT + 4];
    int n = blockIdx.x * QT + threadIdx.x;
    int m = blockIdx.y * QT + threadIdx.y;
    int acc = 0;
    for (int k = 0; k < K; k += QT) {
        xs[threadIdx.y][threadIdx.x] = x[m * K + k + threadIdx.x];
        ws[threadIdx.y][threadIdx.x] = w[(blockIdx.x * QT + threadIdx.y) * K + k + threadIdx.x]; // weights are N x K
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < QT; ++i)
            acc += (int)xs[threadIdx.y][i] * (int)ws[threadIdx.x][i];
        __syncthreads();
    }
    y[m * N + n] = acc * sx[m] * sw[n];
}

// half inputs, float accumulators, optional bias + ReLU
template <bool RELU>
__global__ void hgemm_bias(const half *A, const half *B, const float *bias, half *C, int M, int N, int K)
{
    constexpr int T = 16;
    __shared__ half As[T][T];
    __shared__ half Bs[T][T];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float acc = 0.f;
    for (int t = 0; t < (K + T - 1) / T; ++t) {
        As[ty][tx] = (row < M && t * T + tx < K) ? A[row * K + t * T + tx] : __float2half(0.f);
        Bs[ty][tx] = (col < N && t * T + ty < K) ? B[(t * T + ty) * N + col] : __float2half(0.f);
        __syncthreads();
        for (int k = 0; k < T; ++k)
            acc += __half2float(As[ty][k]) * __half2float(Bs[k][tx]);
        __syncthreads();
    }
    if (row < M && col < N) {
        acc += bias[col];
        if (RELU && acc < 0.f) acc = 0.f;
        C[row * N + col] = __float2half(acc * 0.01f);
    }
}

__global__ void tohalf(const float *a, half *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = __float2half(a[i] - 6.0f);
}

// complex single precision
struct cplx {
    float re, im;
    __device__ cplx() {}
    __device__ cplx(float r, float i) : re(r), im(i) {}
};
__device__ inline cplx operator*(cplx a, cplx b) { return cplx(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }
__device__ inline cplx operator+(cplx a, cplx b) { return cplx(a.re + b.re, a.im + b.im); }
__device__ inline cplx conj(cplx a) { return cplx(a.re, -a.im); }

__global__ void cgemm_conj(const cplx *A, const cplx *B, cplx *C, int n)
{
    // no constructor calls in shared memory: raw floats
    __shared__ float sar[16][16], sai[16][16];
    __shared__ float sbr[16][17], sbi[16][17];
    int r = blockIdx.y * 16 + threadIdx.y;
    int c = blockIdx.x * 16 + threadIdx.x;
    cplx acc(0.f, 0.f);
    for (int p = 0; p < n; p += 16) {
        cplx a = A[r * n + p + threadIdx.x];
        cplx b = conj(B[(blockIdx.x * 16 + threadIdx.y) * n + p + threadIdx.x]); // B^H
        sar[threadIdx.y][threadIdx.x] = a.re;
        sai[threadIdx.y][threadIdx.x] = a.im;
        sbr[threadIdx.y][threadIdx.x] = b.re;
        sbi[threadIdx.y][threadIdx.x] = b.im;
        __syncthreads();
        for (int k = 0; k < 16; ++k)
            acc = acc + cplx(sar[threadIdx.y][k], sai[threadIdx.y][k]) * cplx(sbr[threadIdx.x][k], sbi[threadIdx.x][k]);
        __syncthreads();
    }
    C[r * n + c] = acc;
}

// 2-D block tiling (after the well-known SGEMM worklog): BM=BN=64, BK=8, TM=TN=4
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1)
    sgemm2DBlocktiling(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    const unsigned cRow = blockIdx.y;
    const unsigned cCol = blockIdx.x;
    const unsigned numThreadsBlocktile = BM * BN / (TM * TN);

    const int threadCol = threadIdx.x % (BN / TN);
    const int threadRow = threadIdx.x / (BN / TN);

    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];

    A += cRow * BM * K;
    B += cCol * BN;
    C += cRow * BM * N + cCol * BN;

    const unsigned innerRowA = threadIdx.x / BK;
    const unsigned innerColA = threadIdx.x % BK;
    const unsigned strideA = numThreadsBlocktile / BK;
    const unsigned innerRowB = threadIdx.x / BN;
    const unsigned innerColB = threadIdx.x % BN;
    const unsigned strideB = numThreadsBlocktile / BN;

    float threadResults[TM * TN] = {0.0};
    float regM[TM] = {0.0};
    float regN[TN] = {0.0};

    for (unsigned bkIdx = 0; bkIdx < K; bkIdx += BK) {
        for (unsigned loadOffset = 0; loadOffset < BM; loadOffset += strideA)
            As[(innerRowA + loadOffset) * BK + innerColA] = A[(innerRowA + loadOffset) * K + innerColA];
        for (unsigned loadOffset = 0; loadOffset < BK; loadOffset += strideB)
            Bs[(innerRowB + loadOffset) * BN + innerColB] = B[(innerRowB + loadOffset) * N + innerColB];
        __syncthreads();

        A += BK;
        B += BK * N;

        for (unsigned dotIdx = 0; dotIdx < BK; ++dotIdx) {
            for (unsigned i = 0; i < TM; ++i)
                regM[i] = As[(threadRow * TM + i) * BK + dotIdx];
            for (unsigned i = 0; i < TN; ++i)
                regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
            for (unsigned resIdxM = 0; resIdxM < TM; ++resIdxM)
                for (unsigned resIdxN = 0; resIdxN < TN; ++resIdxN)
                    threadResults[resIdxM * TN + resIdxN] += regM[resIdxM] * regN[resIdxN];
        }
        __syncthreads();
    }

    for (unsigned resIdxM = 0; resIdxM < TM; ++resIdxM)
        for (unsigned resIdxN = 0; resIdxN < TN; ++resIdxN)
            C[(threadRow * TM + resIdxM) * N + threadCol * TN + resIdxN] =
                alpha * threadResults[resIdxM * TN + resIdxN] +
                beta * C[(threadRow * TM + resIdxM) * N + threadCol * TN + resIdxN];
}

// LeNet-like forward layer, unrolled on the fly: rows = output maps, columns = output pixels
#define TILE_DIM 16
#define x4d(i3, i2, i1, i0) x[(i3) * (C * H * W) + (i2) * (H * W) + (i1) * (W) + i0]
#define y4d(i3, i2, i1, i0) y[(i3) * (M * H_out * W_out) + (i2) * (H_out * W_out) + (i1) * (W_out) + i0]
__global__ void conv_implicit_gemm(float *y, const float *x, const float *k, const int M, const int C,
                                   const int H, const int W, const int K)
{
    __shared__ float tileK[TILE_DIM][TILE_DIM];
    __shared__ float tileX[TILE_DIM][TILE_DIM];
    const int H_out = H - K + 1;
    const int W_out = W - K + 1;
    const int b = blockIdx.z;
    const int row = blockIdx.y * TILE_DIM + threadIdx.y;
    const int col = blockIdx.x * TILE_DIM + threadIdx.x;
    const int depth = C * K * K;
    float acc = 0.0f;
    for (int t = 0; t < (depth + TILE_DIM - 1) / TILE_DIM; ++t) {
        int kc = t * TILE_DIM + threadIdx.x;
        tileK[threadIdx.y][threadIdx.x] = (row < M && kc < depth) ? k[row * depth + kc] : 0.0f;
        int xr = t * TILE_DIM + threadIdx.y;
        if (xr < depth && col < H_out * W_out) {
            int c = xr / (K * K);
            int p = (xr % (K * K)) / K;
            int q = xr % K;
            tileX[threadIdx.y][threadIdx.x] = x4d(b, c, col / W_out + p, col % W_out + q);
        } else {
            tileX[threadIdx.y][threadIdx.x] = 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < TILE_DIM; ++i)
            acc += tileK[threadIdx.y][i] * tileX[i][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < H_out * W_out)
        y4d(b, row, col / W_out, col % W_out) = acc;
}

int main()
{
    {
        int M = 1024, N = 2048, K = 2048;
        int8_t *x = mk<int8_t>(M * K), *w = mk<int8_t>(N * K);
        float *sx = mk<float>(M), *sw = mk<float>(N), *y = mk<float>(M * N);
        gemm_s8_tile<<<dim3(N / QT, M / QT), dim3(QT, QT)>>>(x, w, sx, sw, y, M, N, K);
        show("gemm_s8_tile", y, (size_t)M * N * sizeof(float));
    }
    {
        int M = 1000, N = 1400, K = 1000;
        float *fa = mk<float>(M * K), *fb = mk<float>(K * N), *bias = mk<float>(N);
        half *A, *B, *C;
        cudaMalloc(&A, M * K * sizeof(half));
        cudaMalloc(&B, K * N * sizeof(half));
        cudaMalloc(&C, M * N * sizeof(half));
        tohalf<<<(M * K + 255) / 256, 256>>>(fa, A, M * K);
        show("tohalf", A, M * K * sizeof(half));
        tohalf<<<(K * N + 255) / 256, 256>>>(fb, B, K * N);
        hgemm_bias<true><<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, bias, C, M, N, K);
        show("hgemm_bias", C, (size_t)M * N * sizeof(half));
    }
    {
        int n = 1024;
        cplx *A = (cplx *)mk<float>(2 * n * n), *B = (cplx *)mk<float>(2 * n * n), *C = (cplx *)mk<float>(2 * n * n);
        cgemm_conj<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(A, B, C, n);
        show("cgemm_conj", C, (size_t)2 * n * n * sizeof(float));
    }
    {
        int n = 2048;
        float *A = mk<float>(n * n), *B = mk<float>(n * n), *C = mk<float>(n * n);
        sgemm2DBlocktiling<64, 64, 8, 4, 4><<<dim3(n / 64, n / 64), 256>>>(n, n, n, 0.5f, A, B, 2.0f, C);
        show("sgemm2DBlocktiling", C, (size_t)n * n * sizeof(float));
    }
    {
        int Bn = 64, M = 32, C = 8, H = 72, W = 72, K = 5;
        int Ho = H - K + 1, Wo = W - K + 1;
        float *x = mk<float>((size_t)Bn * C * H * W), *k = mk<float>(M * C * K * K), *y = mk<float>((size_t)Bn * M * Ho * Wo);
        dim3 g((Ho * Wo + TILE_DIM - 1) / TILE_DIM, (M + TILE_DIM - 1) / TILE_DIM, Bn);
        conv_implicit_gemm<<<g, dim3(TILE_DIM, TILE_DIM)>>>(y, x, k, M, C, H, W, K);
        show("conv_implicit_gemm", y, (size_t)Bn * M * Ho * Wo * sizeof(float));
    }
    return 0;
}
