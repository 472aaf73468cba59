// textbook kernels (parallel programming course)
#include "shown.h"

#define OUT_TILE_DIM 30
#define IN_TILE_DIM 32
__global__ void stencil_coarsened_registers(float *in, float *out, unsigned int N, float c0, float c1)
{
    int iStart = blockIdx.z * OUT_TILE_DIM;
    int j = blockIdx.y * OUT_TILE_DIM + threadIdx.y - 1;
    int k = blockIdx.x * OUT_TILE_DIM + threadIdx.x - 1;
    int n = (int)N;
    float inPrev = 0.f;
    __shared__ float inCurr_s[IN_TILE_DIM][IN_TILE_DIM];
    float inCurr = 0.f;
    float inNext = 0.f;
    if (iStart - 1 >= 0 && iStart - 1 < n && j >= 0 && j < n && k >= 0 && k < n)
        inPrev = in[(iStart - 1) * N * N + j * N + k];
    if (iStart >= 0 && iStart < n && j >= 0 && j < n && k >= 0 && k < n) {
        inCurr = in[iStart * N * N + j * N + k];
        inCurr_s[threadIdx.y][threadIdx.x] = inCurr;
    }
    for (int i = iStart; i < iStart + OUT_TILE_DIM; ++i) {
        if (i + 1 >= 0 && i + 1 < n && j >= 0 && j < n && k >= 0 && k < n)
            inNext = in[(i + 1) * N * N + j * N + k];
        __syncthreads();
        if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1 && k >= 1 && k < n - 1) {
            if (threadIdx.y >= 1 && threadIdx.y < IN_TILE_DIM - 1 && threadIdx.x >= 1 && threadIdx.x < IN_TILE_DIM - 1) {
                out[i * N * N + j * N + k] = c0 * inCurr
                    + c1 * (inCurr_s[threadIdx.y][threadIdx.x - 1]
                    + inCurr_s[threadIdx.y][threadIdx.x + 1]
                    + inCurr_s[threadIdx.y + 1][threadIdx.x]
                    + inCurr_s[threadIdx.y - 1][threadIdx.x]
                    + inPrev + inNext);
            }
        }
        __syncthreads();
        inPrev = inCurr;
        inCurr = inNext;
        inCurr_s[threadIdx.y][threadIdx.x] = inNext;
    }
}

#define FILTER_RADIUS 2
#define CONV_IN_TILE 32
#define CONV_OUT_TILE ((CONV_IN_TILE) - 2 * (FILTER_RADIUS))
__constant__ float F_c[2 * FILTER_RADIUS + 1][2 * FILTER_RADIUS + 1];
__global__ void convolution_tiled_2D_const_mem_kernel(float *N, float *P, int width, int height)
{
    int col = blockIdx.x * CONV_OUT_TILE + threadIdx.x - FILTER_RADIUS;
    int row = blockIdx.y * CONV_OUT_TILE + threadIdx.y - FILTER_RADIUS;
    // loading input tile
    __shared__ float N_s[CONV_IN_TILE][CONV_IN_TILE];
    if (row >= 0 && row < height && col >= 0 && col < width) {
        N_s[threadIdx.y][threadIdx.x] = N[row * width + col];
    } else {
        N_s[threadIdx.y][threadIdx.x] = 0.0;
    }
    __syncthreads();
    // Calculating output elements
    int tileCol = threadIdx.x - FILTER_RADIUS;
    int tileRow = threadIdx.y - FILTER_RADIUS;
    // turning off the threads at the edges of the block
    if (col >= 0 && col < width && row >= 0 && row < height) {
        if (tileCol >= 0 && tileCol < CONV_OUT_TILE && tileRow >= 0 && tileRow < CONV_OUT_TILE) {
            float Pvalue = 0.0f;
            for (int fRow = 0; fRow < 2 * FILTER_RADIUS + 1; fRow++) {
                for (int fCol = 0; fCol < 2 * FILTER_RADIUS + 1; fCol++) {
                    Pvalue += F_c[fRow][fCol] * N_s[tileRow + fRow][tileCol + fCol];
                }
            }
            P[row * width + col] = Pvalue;
        }
    }
}

#define SECTION_SIZE 1024
__global__ void Kogge_Stone_scan_kernel(float *X, float *Y, unsigned int N)
{
    __shared__ float XY[SECTION_SIZE];
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        XY[threadIdx.x] = X[i];
    } else {
        XY[threadIdx.x] = 0.0f;
    }
    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        float temp;
        if (threadIdx.x >= stride)
            temp = XY[threadIdx.x] + XY[threadIdx.x - stride];
        __syncthreads();
        if (threadIdx.x >= stride)
            XY[threadIdx.x] = temp;
    }
    if (i < N) {
        Y[i] = XY[threadIdx.x];
    }
}

#define BK_SECTION 2048
__global__ void Brent_Kung_scan_kernel(int *X, int *Y, unsigned int N)
{
    __shared__ int XY[BK_SECTION];
    unsigned int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
    XY[threadIdx.x] = i < N ? X[i] : 0;
    XY[threadIdx.x + blockDim.x] = i + blockDim.x < N ? X[i + blockDim.x] : 0;
    for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
        __syncthreads();
        unsigned int index = (threadIdx.x + 1) * 2 * stride - 1;
        if (index < BK_SECTION) {
            XY[index] += XY[index - stride];
        }
    }
    for (int stride = BK_SECTION / 4; stride > 0; stride /= 2) {
        __syncthreads();
        unsigned int index = (threadIdx.x + 1) * stride * 2 - 1;
        if (index + stride < BK_SECTION) {
            XY[index + stride] += XY[index];
        }
    }
    __syncthreads();
    if (i < N) Y[i] = XY[threadIdx.x];
    if (i + blockDim.x < N) Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}

#define TILE_WIDTH 32
#define COARSE_FACTOR 4
__global__ void matrixMulKernel(float *M, float *N, float *P, int width)
{
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
    int bx = blockIdx.x; int by = blockIdx.y;
    int tx = threadIdx.x; int ty = threadIdx.y;
    int row = by * TILE_WIDTH + ty;
    int colStart = bx * TILE_WIDTH * COARSE_FACTOR + tx;

    float Pvalue[COARSE_FACTOR];
    for (int c = 0; c < COARSE_FACTOR; ++c) {
        Pvalue[c] = 0.0f;
    }
    for (int ph = 0; ph < width / TILE_WIDTH; ++ph) {
        Mds[ty][tx] = M[row * width + ph * TILE_WIDTH + tx];
        for (int c = 0; c < COARSE_FACTOR; ++c) {
            int col = colStart + c * TILE_WIDTH;
            Nds[ty][tx] = N[(ph * TILE_WIDTH + ty) * width + col];
            __syncthreads();
            for (int k = 0; k < TILE_WIDTH; ++k) {
                Pvalue[c] += Mds[ty][k] * Nds[k][tx];
            }
            __syncthreads();
        }
    }
    for (int c = 0; c < COARSE_FACTOR; ++c) {
        int col = colStart + c * TILE_WIDTH;
        P[row * width + col] = Pvalue[c];
    }
}

// every thread counts into its own bins, then the bins are added by the block
#define NUM_BINS 16
#define HIST_THREADS 128
__global__ void histogram_thread_private(const unsigned char *data, unsigned int length, unsigned int *blockHisto)
{
    unsigned int bins[NUM_BINS];
    for (int b = 0; b < NUM_BINS; ++b) bins[b] = 0;
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += blockDim.x * gridDim.x)
        bins[data[i] & (NUM_BINS - 1)]++;

    __shared__ unsigned int histo_s[NUM_BINS][HIST_THREADS];
    for (int b = 0; b < NUM_BINS; ++b) histo_s[b][threadIdx.x] = bins[b];
    __syncthreads();
    for (unsigned int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        for (unsigned int t = threadIdx.x; t < stride * NUM_BINS; t += blockDim.x)
            histo_s[t / stride][t % stride] += histo_s[t / stride][t % stride + stride];
        __syncthreads();
    }
    if (threadIdx.x < NUM_BINS)
        blockHisto[blockIdx.x * NUM_BINS + threadIdx.x] = histo_s[threadIdx.x][0];
}

#define CNN_TILE 16
__global__ void ConvLayerForward_Kernel(int C, int W_grid, int K, int M, int H, int Wd, const float *X, const float *W, float *Y)
{
    int X_tile_width = CNN_TILE + K - 1;
    extern __shared__ float shmem[];
    float *X_shared = &shmem[0];
    float *W_shared = &shmem[X_tile_width * X_tile_width];
    int n = blockIdx.x;
    int m = blockIdx.y;
    int h0 = threadIdx.x;
    int w0 = threadIdx.y;
    int h_base = (blockIdx.z / W_grid) * CNN_TILE;
    int w_base = (blockIdx.z % W_grid) * CNN_TILE;
    int h = h_base + h0;
    int w = w_base + w0;
    int H_out = H - K + 1, W_out = Wd - K + 1;

    float acc = 0.;
    for (int c = 0; c < C; c++) {
        if ((h0 < K) && (w0 < K))
            W_shared[h0 * K + w0] = W[((m * C + c) * K + h0) * K + w0];
        __syncthreads();
        for (int i = h; i < h_base + X_tile_width; i += CNN_TILE)
            for (int j = w; j < w_base + X_tile_width; j += CNN_TILE)
                X_shared[(i - h_base) * X_tile_width + (j - w_base)] = (i < H && j < Wd) ? X[((n * C + c) * H + i) * Wd + j] : 0.f;
        __syncthreads();
        for (int p = 0; p < K; p++)
            for (int q = 0; q < K; q++)
                acc += X_shared[(h0 + p) * X_tile_width + (w0 + q)] * W_shared[p * K + q];
        __syncthreads();
    }
    if (h < H_out && w < W_out)
        Y[((n * M + m) * H_out + h) * W_out + w] = acc;
}

#define RED_BLOCK 512
__global__ void CoarsenedSumReductionKernel(float *input, float *output)
{
    __shared__ float input_s[RED_BLOCK];
    unsigned int segment = COARSE_FACTOR * 2 * blockDim.x * blockIdx.x;
    unsigned int i = segment + threadIdx.x;
    unsigned int t = threadIdx.x;
    float sum = input[i];
    for (unsigned int tile = 1; tile < COARSE_FACTOR * 2; ++tile) {
        sum += input[i + tile * RED_BLOCK];
    }
    input_s[t] = sum;
    for (unsigned int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (t < stride) {
            input_s[t] += input_s[t + stride];
        }
    }
    if (t == 0) {
        output[blockIdx.x] = input_s[0];
    }
}

int main()
{
    size_t n = 27000000;
    float *in = mk<float>(n), *out = mk<float>(n), *p = mk<float>(n);
    float F_h[5][5];
    for (int i = 0; i < 25; i++) F_h[i / 5][i % 5] = ((i * 3) % 8) / 16.f;
    cudaMemcpyToSymbol(F_c, F_h, sizeof(F_h));

    unsigned N3 = 299;
    stencil_coarsened_registers<<<dim3(10, 10, 10), dim3(32, 32)>>>(in, out, N3, 0.4f, 0.1f);
    show("stencil_coarsened_registers", out, n * 4);

    int width = 4001, height = 3007;
    convolution_tiled_2D_const_mem_kernel<<<dim3((width + CONV_OUT_TILE - 1) / CONV_OUT_TILE, (height + CONV_OUT_TILE - 1) / CONV_OUT_TILE), dim3(32, 32)>>>(in, out, width, height);
    show("convolution_tiled_2D_const_mem_kernel", out, (size_t)width * height * 4);

    unsigned ns = (1u << 22) + 100;
    Kogge_Stone_scan_kernel<<<(ns + SECTION_SIZE - 1) / SECTION_SIZE, SECTION_SIZE>>>(in, out, ns);
    show("Kogge_Stone_scan_kernel", out, (size_t)ns * 4);

    int *xi = mk<int>(ns), *yi = mk<int>(ns);
    Brent_Kung_scan_kernel<<<(ns + BK_SECTION - 1) / BK_SECTION, BK_SECTION / 2>>>(xi, yi, ns);
    show("Brent_Kung_scan_kernel", yi, (size_t)ns * 4);

    int w = 1536;
    matrixMulKernel<<<dim3(w / (TILE_WIDTH * COARSE_FACTOR), w / TILE_WIDTH), dim3(TILE_WIDTH, TILE_WIDTH)>>>(in, p, out, w);
    show("matrixMulKernel", out, (size_t)w * w * 4);

    unsigned char *bytes = mk<unsigned char>(n);
    unsigned *histo = mk<unsigned>(1024 * NUM_BINS);
    histogram_thread_private<<<1024, HIST_THREADS>>>(bytes, (unsigned)n, histo);
    show("histogram_thread_private", histo, 1024 * NUM_BINS * 4);

    int C = 3, K = 5, M = 12, H = 132, Wd = 140, B = 16;
    int Ho = H - K + 1, Wo = Wd - K + 1, Wg = (Wo + CNN_TILE - 1) / CNN_TILE, Hg = (Ho + CNN_TILE - 1) / CNN_TILE;
    size_t sh = sizeof(float) * ((CNN_TILE + K - 1) * (CNN_TILE + K - 1) + K * K);
    ConvLayerForward_Kernel<<<dim3(B, M, Wg * Hg), dim3(CNN_TILE, CNN_TILE), sh>>>(C, Wg, K, M, H, Wd, in, p, out);
    show("ConvLayerForward_Kernel", out, (size_t)B * M * Ho * Wo * 4);

    CoarsenedSumReductionKernel<<<(1 << 24) / (RED_BLOCK * COARSE_FACTOR * 2), RED_BLOCK>>>(in, out);
    show("CoarsenedSumReductionKernel", out, (1 << 24) / (RED_BLOCK * COARSE_FACTOR * 2) * 4);
    return 0;
}
