// CUDA-samples flavoured kernels
#include "shown.h"
#include <vector>

typedef unsigned int uint;
typedef unsigned char uchar;

#define KERNEL_RADIUS 8
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
__constant__ float c_Kernel[KERNEL_LENGTH];

////////////////////////////////////////////////////////////////////////////////
// Row convolution filter
////////////////////////////////////////////////////////////////////////////////
#define ROWS_BLOCKDIM_X   16
#define ROWS_BLOCKDIM_Y   4
#define ROWS_RESULT_STEPS 8
#define ROWS_HALO_STEPS   1

__global__ void convolutionRowsKernel(float *d_Dst, const float *d_Src, int imageW, int imageH, int pitch)
{
    __shared__ float s_Data[ROWS_BLOCKDIM_Y][(ROWS_RESULT_STEPS + 2 * ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X];

    // Offset to the left halo edge
    const int baseX = (blockIdx.x * ROWS_RESULT_STEPS - ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X + threadIdx.x;
    const int baseY = blockIdx.y * ROWS_BLOCKDIM_Y + threadIdx.y;

    d_Src += baseY * pitch + baseX;
    d_Dst += baseY * pitch + baseX;

    // Load main data
#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++) {
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] =
            (imageW - baseX > i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
    }

    // Load left halo
#pragma unroll
    for (int i = 0; i < ROWS_HALO_STEPS; i++) {
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] =
            (baseX >= -i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
    }

    // Load right halo
#pragma unroll
    for (int i = ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS + ROWS_HALO_STEPS; i++) {
        s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] =
            (imageW - baseX > i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
    }

    // Compute and store results
    __syncthreads();

#pragma unroll
    for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++) {
        float sum = 0;

#pragma unroll
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++) {
            sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X + j];
        }

        if (imageW - baseX > i * ROWS_BLOCKDIM_X)
            d_Dst[i * ROWS_BLOCKDIM_X] = sum;
    }
}

////////////////////////////////////////////////////////////////////////////////
// Column convolution filter
////////////////////////////////////////////////////////////////////////////////
#define COLUMNS_BLOCKDIM_X   16
#define COLUMNS_BLOCKDIM_Y   8
#define COLUMNS_RESULT_STEPS 8
#define COLUMNS_HALO_STEPS   1

__global__ void convolutionColumnsKernel(float *d_Dst, const float *d_Src, int imageW, int imageH, int pitch)
{
    __shared__ float s_Data[COLUMNS_BLOCKDIM_X]
                           [(COLUMNS_RESULT_STEPS + 2 * COLUMNS_HALO_STEPS) * COLUMNS_BLOCKDIM_Y + 1];

    const int baseX = blockIdx.x * COLUMNS_BLOCKDIM_X + threadIdx.x;
    const int baseY = (blockIdx.y * COLUMNS_RESULT_STEPS - COLUMNS_HALO_STEPS) * COLUMNS_BLOCKDIM_Y + threadIdx.y;
    d_Src += baseY * pitch + baseX;
    d_Dst += baseY * pitch + baseX;

#pragma unroll
    for (int i = COLUMNS_HALO_STEPS; i < COLUMNS_HALO_STEPS + COLUMNS_RESULT_STEPS; i++)
        s_Data[threadIdx.x][threadIdx.y + i * COLUMNS_BLOCKDIM_Y] =
            (imageH - baseY > i * COLUMNS_BLOCKDIM_Y) ? d_Src[i * COLUMNS_BLOCKDIM_Y * pitch] : 0;

#pragma unroll
    for (int i = 0; i < COLUMNS_HALO_STEPS; i++)
        s_Data[threadIdx.x][threadIdx.y + i * COLUMNS_BLOCKDIM_Y] =
            (baseY >= -i * COLUMNS_BLOCKDIM_Y) ? d_Src[i * COLUMNS_BLOCKDIM_Y * pitch] : 0;

#pragma unroll
    for (int i = COLUMNS_HALO_STEPS + COLUMNS_RESULT_STEPS;
         i < COLUMNS_HALO_STEPS + COLUMNS_RESULT_STEPS + COLUMNS_HALO_STEPS; i++)
        s_Data[threadIdx.x][threadIdx.y + i * COLUMNS_BLOCKDIM_Y] =
            (imageH - baseY > i * COLUMNS_BLOCKDIM_Y) ? d_Src[i * COLUMNS_BLOCKDIM_Y * pitch] : 0;

    __syncthreads();

#pragma unroll
    for (int i = COLUMNS_HALO_STEPS; i < COLUMNS_HALO_STEPS + COLUMNS_RESULT_STEPS; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
            sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.x][threadIdx.y + i * COLUMNS_BLOCKDIM_Y + j];
        if (imageH - baseY > i * COLUMNS_BLOCKDIM_Y)
            d_Dst[i * COLUMNS_BLOCKDIM_Y * pitch] = sum;
    }
}

////////////////////////////////////////////////////////////////////////////////
// reduce6
////////////////////////////////////////////////////////////////////////////////
template <class T> struct SharedMemory {
    __device__ inline operator T *() {
        extern __shared__ int __smem[];
        return (T *)__smem;
    }
    __device__ inline operator const T *() const {
        extern __shared__ int __smem[];
        return (T *)__smem;
    }
};

template <class T, unsigned int blockSize, bool nIsPow2>
__global__ void reduce6(T *g_idata, T *g_odata, unsigned int n)
{
    T *sdata = SharedMemory<T>();

    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockSize * 2 + threadIdx.x;
    unsigned int gridSize = blockSize * 2 * gridDim.x;

    T mySum = 0;
    while (i < n) {
        mySum += g_idata[i];
        if (nIsPow2 || i + blockSize < n)
            mySum += g_idata[i + blockSize];
        i += gridSize;
    }
    sdata[tid] = mySum;
    __syncthreads();

    if ((blockSize >= 512) && (tid < 256)) sdata[tid] = mySum = mySum + sdata[tid + 256];
    __syncthreads();
    if ((blockSize >= 256) && (tid < 128)) sdata[tid] = mySum = mySum + sdata[tid + 128];
    __syncthreads();
    if ((blockSize >= 128) && (tid < 64)) sdata[tid] = mySum = mySum + sdata[tid + 64];
    __syncthreads();

    if (tid < 32) {
        if (blockSize >= 64) mySum += sdata[tid + 32];
        for (int offset = 16; offset > 0; offset /= 2)
            mySum += __shfl_down_sync(0xffffffffu, mySum, offset);
    }
    if (tid == 0) g_odata[blockIdx.x] = mySum;
}

////////////////////////////////////////////////////////////////////////////////
// matrixMul
////////////////////////////////////////////////////////////////////////////////
template <int BLOCK_SIZE>
__global__ void MatrixMulCUDA(float *C, float *A, float *B, int wA, int wB)
{
    int bx = blockIdx.x, by = blockIdx.y;
    int tx = threadIdx.x, ty = threadIdx.y;
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

////////////////////////////////////////////////////////////////////////////////
// transpose
////////////////////////////////////////////////////////////////////////////////
#define TILE_DIM   32
#define BLOCK_ROWS 8
__global__ void transposeNoBankConflicts(float *odata, const float *idata, int width, int height)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];

    int xIndex = blockIdx.x * TILE_DIM + threadIdx.x;
    int yIndex = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS)
        if (xIndex < width && yIndex + i < height)
            tile[threadIdx.y + i][threadIdx.x] = idata[xIndex + (yIndex + i) * width];
    __syncthreads();

    xIndex = blockIdx.y * TILE_DIM + threadIdx.x;
    yIndex = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS)
        if (xIndex < height && yIndex + i < width)
            odata[xIndex + (yIndex + i) * height] = tile[threadIdx.x][threadIdx.y + i];
}

////////////////////////////////////////////////////////////////////////////////
// histogram64: byte counters per thread
////////////////////////////////////////////////////////////////////////////////
#define HISTOGRAM64_BIN_COUNT        64
#define HISTOGRAM64_THREADBLOCK_SIZE 64
#define HISTOGRAM64_WORDS_PER_THREAD 60

inline __device__ void addByte(uchar *s_ThreadBase, uint data)
{
    s_ThreadBase[data * HISTOGRAM64_THREADBLOCK_SIZE]++;
}
inline __device__ void addWord(uchar *s_ThreadBase, uint data)
{
    addByte(s_ThreadBase, (data >> 2) & 0x3FU);
    addByte(s_ThreadBase, (data >> 10) & 0x3FU);
    addByte(s_ThreadBase, (data >> 18) & 0x3FU);
    addByte(s_ThreadBase, (data >> 26) & 0x3FU);
}

__global__ void histogram64Kernel(uint *d_PartialHistograms, const uint *d_Data, uint dataCount)
{
    const uint threadPos = ((threadIdx.x & ~(16 * 4 - 1)) << 0) | ((threadIdx.x & (16 - 1)) << 2) |
                           ((threadIdx.x & (16 * 3)) >> 4);

    __shared__ uchar s_Hist[HISTOGRAM64_THREADBLOCK_SIZE * HISTOGRAM64_BIN_COUNT];
    uchar *s_ThreadBase = s_Hist + threadPos;

#pragma unroll
    for (uint i = 0; i < (HISTOGRAM64_BIN_COUNT / 4); i++)
        ((uint *)s_Hist)[threadIdx.x + i * HISTOGRAM64_THREADBLOCK_SIZE] = 0;
    __syncthreads();

    for (uint k = 0, pos = blockIdx.x * HISTOGRAM64_THREADBLOCK_SIZE * HISTOGRAM64_WORDS_PER_THREAD + threadIdx.x;
         k < HISTOGRAM64_WORDS_PER_THREAD && pos < dataCount; k++, pos += HISTOGRAM64_THREADBLOCK_SIZE)
        addWord(s_ThreadBase, d_Data[pos]);
    __syncthreads();

    if (threadIdx.x < HISTOGRAM64_BIN_COUNT) {
        uchar *s_HistBase = s_Hist + threadIdx.x * HISTOGRAM64_THREADBLOCK_SIZE;
        uint sum = 0;
        uint pos = 4 * (threadIdx.x & 15);
        for (uint i = 0; i < (HISTOGRAM64_THREADBLOCK_SIZE / 4); i++) {
            sum += s_HistBase[pos + 0] + s_HistBase[pos + 1] + s_HistBase[pos + 2] + s_HistBase[pos + 3];
            pos = (pos + 4) & (HISTOGRAM64_THREADBLOCK_SIZE - 1);
        }
        d_PartialHistograms[blockIdx.x * HISTOGRAM64_BIN_COUNT + threadIdx.x] = sum;
    }
}

////////////////////////////////////////////////////////////////////////////////
// Mersenne twister (19 words of state in a local array)
////////////////////////////////////////////////////////////////////////////////
#define MT_MM 9
#define MT_NN 19
#define MT_WMASK 0xFFFFFFFFU
#define MT_UMASK 0xFFFFFFFEU
#define MT_LMASK 0x1U
#define MT_SHIFT0 12
#define MT_SHIFTB 7
#define MT_SHIFTC 15
#define MT_SHIFT1 18

__global__ void RandomGPU(float *d_Random, const uint *seeds, int nPerRng)
{
    const int tid = blockDim.x * blockIdx.x + threadIdx.x;
    const int threads = blockDim.x * gridDim.x;

    int iState, iState1, iStateM, iOut;
    unsigned int mti, mti1, mtiM, x;
    unsigned int mt[MT_NN];
    const uint matrix_a = 0xf7a5d3b1u ^ (tid << 4), mask_b = 0x5b9ad180u, mask_c = 0xfdee8000u;

    mt[0] = seeds[tid];
    for (iState = 1; iState < MT_NN; iState++)
        mt[iState] = (1812433253U * (mt[iState - 1] ^ (mt[iState - 1] >> 30)) + iState) & MT_WMASK;

    iState = 0;
    mti1 = mt[0];
    for (iOut = 0; iOut < nPerRng; iOut++) {
        iState1 = iState + 1;
        iStateM = iState + MT_MM;
        if (iState1 >= MT_NN) iState1 -= MT_NN;
        if (iStateM >= MT_NN) iStateM -= MT_NN;
        mti = mti1;
        mti1 = mt[iState1];
        mtiM = mt[iStateM];

        x = (mti & MT_UMASK) | (mti1 & MT_LMASK);
        x = mtiM ^ (x >> 1) ^ ((x & 1) ? matrix_a : 0);
        mt[iState] = x;
        iState = iState1;

        x ^= (x >> MT_SHIFT0);
        x ^= (x << MT_SHIFTB) & mask_b;
        x ^= (x << MT_SHIFTC) & mask_c;
        x ^= (x >> MT_SHIFT1);

        d_Random[tid + iOut * threads] = ((float)x + 1.0f) / 4294967296.0f;
    }
}

int main()
{
    const int W = 3000, H = 2504, P = 3008;
    float h_Kernel[KERNEL_LENGTH];
    for (int i = 0; i < KERNEL_LENGTH; i++) h_Kernel[i] = (float)((i * 37) % 16) / 32.0f;
    cudaMemcpyToSymbol(c_Kernel, h_Kernel, sizeof h_Kernel);

    float *src = mk<float>(P * H), *buf = mk<float>(P * H), *dst = mk<float>(P * H);
    {
        dim3 blocks((W + ROWS_RESULT_STEPS * ROWS_BLOCKDIM_X - 1) / (ROWS_RESULT_STEPS * ROWS_BLOCKDIM_X), H / ROWS_BLOCKDIM_Y);
        dim3 threads(ROWS_BLOCKDIM_X, ROWS_BLOCKDIM_Y);
        convolutionRowsKernel<<<blocks, threads>>>(buf, src, W, H, P);
        show("convolutionRows", buf, sizeof(float) * P * H);
    }
    {
        dim3 blocks(P / COLUMNS_BLOCKDIM_X, (H + COLUMNS_RESULT_STEPS * COLUMNS_BLOCKDIM_Y - 1) / (COLUMNS_RESULT_STEPS * COLUMNS_BLOCKDIM_Y));
        dim3 threads(COLUMNS_BLOCKDIM_X, COLUMNS_BLOCKDIM_Y);
        convolutionColumnsKernel<<<blocks, threads>>>(dst, buf, W, H, P);
        show("convolutionColumns", dst, sizeof(float) * P * H);
    }
    {
        unsigned n = (1u << 25) - 77;
        int *in = mk<int>(n), *out = mk<int>(1024);
        reduce6<int, 256, false><<<1024, 256, 256 * sizeof(int)>>>(in, out, n);
        show("reduce6", out, 1024 * sizeof(int));
        cudaFree(in);
    }
    {
        int hA = 992, wA = 1024, wB = 1056;
        float *A = mk<float>(hA * wA), *B = mk<float>(wA * wB), *C = mk<float>(hA * wB);
        MatrixMulCUDA<32><<<dim3(wB / 32, hA / 32), dim3(32, 32)>>>(C, A, B, wA, wB);
        show("MatrixMulCUDA", C, sizeof(float) * hA * wB);
    }
    {
        float *o = mk<float>(W * H);
        transposeNoBankConflicts<<<dim3((W + 31) / 32, (H + 31) / 32), dim3(TILE_DIM, BLOCK_ROWS)>>>(o, src, W, H);
        show("transposeNoBankConflicts", o, sizeof(float) * W * H);
    }
    {
        uint n = (1u << 23) - 5;
        std::vector<uint> h(n);
        uint s = 12345;
        for (uint i = 0; i < n; i++) { s = s * 1664525u + 1013904223u; h[i] = s ^ (s >> 13); }
        uint *d;
        cudaMalloc(&d, n * sizeof(uint));
        cudaMemcpy(d, h.data(), n * sizeof(uint), cudaMemcpyHostToDevice);
        uint per = HISTOGRAM64_THREADBLOCK_SIZE * HISTOGRAM64_WORDS_PER_THREAD, nb = (n + per - 1) / per;
        uint *part = mk<uint>(nb * 64);
        histogram64Kernel<<<nb, HISTOGRAM64_THREADBLOCK_SIZE>>>(part, d, n);
        show("histogram64", part, nb * 64 * sizeof(uint));

        int rngs = 256 * 256, per_rng = 96;
        float *rnd = mk<float>((size_t)rngs * per_rng);
        RandomGPU<<<rngs / 256, 256>>>(rnd, d, per_rng);
        show("RandomGPU", rnd, sizeof(float) * rngs * per_rng);
    }
    return 0;
}
