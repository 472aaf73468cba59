// Matrix products: square tiles, guarded rectangular, transposed A, batched alpha/beta, double, SYRK
#include "shown.h"

// CUDA samples matrixMul
template <int BLOCK_SIZE>
__global__ void MatrixMulCUDA(float *C, float *A, float *B, int wA, int wB)
{
    // Block index
    int bx = blockIdx.x;
    int by = blockIdx.y;
    // Thread index
    int tx = threadIdx.x;
    int ty = threadIdx.y;

    // Index of the first sub-matrix of A processed by the block
    int aBegin = wA * BLOCK_SIZE * by;
    // Index of the last sub-matrix of A processed by the block
    int aEnd = aBegin + wA - 1;
    // Step size used to iterate through the sub-matrices of A
    int aStep = BLOCK_SIZE;
    // Index of the first sub-matrix of B processed by the block
    int bBegin = BLOCK_SIZE * bx;
    // Step size used to iterate through the sub-matrices of B
    int bStep = BLOCK_SIZE * wB;

    // Csub is used to store the element of the block sub-matrix that is computed by the thread
    float Csub = 0;

    for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep)
    {
        __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];

        As[ty][tx] = A[a + wA * ty + tx];
        Bs[ty][tx] = B[b + wB * ty + tx];
        __syncthreads();

#pragma unroll
        for (int k = 0; k < BLOCK_SIZE; ++k)
        {
            Csub += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();
    }

    int c = wB * BLOCK_SIZE * by + BLOCK_SIZE * bx;
    C[c + wB * ty + tx] = Csub;
}

// Course MP: arbitrary sizes
#define TILE_WIDTH 16
__global__ void matrixMultiplyShared(float *A, float *B, float *C,
                                     int numARows, int numAColumns,
                                     int numBRows, int numBColumns,
                                     int numCRows, int numCColumns)
{
    __shared__ float subTileA[TILE_WIDTH][TILE_WIDTH];
    __shared__ float subTileB[TILE_WIDTH][TILE_WIDTH];

    int bx = blockIdx.x;  int by = blockIdx.y;
    int tx = threadIdx.x; int ty = threadIdx.y;

    int Row = by * TILE_WIDTH + ty;
    int Col = bx * TILE_WIDTH + tx;
    float Pvalue = 0;

    for (int m = 0; m < (numAColumns - 1) / TILE_WIDTH + 1; ++m) {
        if (Row < numARows && m * TILE_WIDTH + tx < numAColumns)
            subTileA[ty][tx] = A[Row * numAColumns + m * TILE_WIDTH + tx];
        else
            subTileA[ty][tx] = 0.0;
        if (m * TILE_WIDTH + ty < numBRows && Col < numBColumns)
            subTileB[ty][tx] = B[(m * TILE_WIDTH + ty) * numBColumns + Col];
        else
            subTileB[ty][tx] = 0.0;
        __syncthreads();
        for (int k = 0; k < TILE_WIDTH; ++k)
            Pvalue += subTileA[ty][k] * subTileB[k][tx];
        __syncthreads();
    }
    if (Row < numCRows && Col < numCColumns)
        C[Row * numCColumns + Col] = Pvalue;
}

// C = A^T * B with A stored K x M; tiles 8 (k) x 32
__global__ void gemm_tn(const float *A, const float *B, float *C, int M, int N, int K)
{
    const int TK = 8, TMN = 32;
    __shared__ float a_s[TK][TMN];
    __shared__ float b_s[TK][TMN];
    int lx = threadIdx.x % 32;
    int ly = threadIdx.x / 32;      // 0..7, 256 threads
    int row0 = blockIdx.y * TMN;
    int col0 = blockIdx.x * TMN;
    float acc0 = 0, acc1 = 0, acc2 = 0, acc3 = 0;
    for (int k0 = 0; k0 < K; k0 += TK) {
        a_s[ly][lx] = A[(k0 + ly) * M + row0 + lx];
        b_s[ly][lx] = B[(k0 + ly) * N + col0 + lx];
        __syncthreads();
        for (int k = 0; k < TK; k++) {
            float b = b_s[k][lx];
            acc0 += a_s[k][ly] * b;
            acc1 += a_s[k][ly + 8] * b;
            acc2 += a_s[k][ly + 16] * b;
            acc3 += a_s[k][ly + 24] * b;
        }
        __syncthreads();
    }
    C[(row0 + ly) * N + col0 + lx] = acc0;
    C[(row0 + ly + 8) * N + col0 + lx] = acc1;
    C[(row0 + ly + 16) * N + col0 + lx] = acc2;
    C[(row0 + ly + 24) * N + col0 + lx] = acc3;
}

// Batched small gemm, 24x24 matrices (spectral elements), C = alpha*A*B + beta*C
namespace sem {
constexpr int NP = 24;
struct Scalars { double alpha, beta; };

__global__ void dgemm_batched(const double *__restrict__ A, const double *__restrict__ B, double *__restrict__ C, Scalars sc)
{
    __shared__ double sA[NP * NP];
    __shared__ double sB[NP * NP];
    const int elem = blockIdx.x;
    const double *Ae = A + elem * NP * NP;
    const double *Be = B + elem * NP * NP;
    double *Ce = C + elem * NP * NP;

    const int tid = threadIdx.y * blockDim.x + threadIdx.x;
    for (int q = tid; q < NP * NP; q += blockDim.x * blockDim.y) {
        sA[q] = Ae[q];
        sB[q] = Be[q];
    }
    __syncthreads();
    for (int i = threadIdx.y; i < NP; i += blockDim.y) {
        int j = threadIdx.x;
        double sum = 0.0;
        for (int k = 0; k < NP; ++k)
            sum += sA[i * NP + k] * sB[k * NP + j];
        Ce[i * NP + j] = sc.alpha * sum + sc.beta * Ce[i * NP + j];
    }
}
} // namespace sem

// double precision with dynamic shared memory and run time tile
__global__ void dgemm_dyn(const double *A, const double *B, double *C, int n)
{
    extern __shared__ double smem[];
    const int T = blockDim.x;
    double *As = smem;
    double *Bs = smem + T * T;
    int col = blockIdx.x * T + threadIdx.x;
    int row = blockIdx.y * T + threadIdx.y;
    double sum = 0;
    for (int t = 0; t < n / T; t++) {
        As[threadIdx.y * T + threadIdx.x] = A[row * n + t * T + threadIdx.x];
        Bs[threadIdx.y * T + threadIdx.x] = B[(t * T + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < T; k++)
            sum += As[threadIdx.y * T + k] * Bs[k * T + threadIdx.x];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

// PolyBench SYRK with shared tiles: C = alpha*A*A^T + beta*C
#define DIM_THREAD_BLOCK_X 32
#define DIM_THREAD_BLOCK_Y 8
typedef float DATA_TYPE;
__global__ void syrk_kernel(int ni, int nj, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE *a, DATA_TYPE *c)
{
    __shared__ DATA_TYPE ai[DIM_THREAD_BLOCK_Y][33];
    __shared__ DATA_TYPE aj[32][33];
    int j = blockIdx.x * 32 + threadIdx.x;
    int i = blockIdx.y * DIM_THREAD_BLOCK_Y + threadIdx.y;
    DATA_TYPE s = 0;
    for (int k0 = 0; k0 < nj; k0 += 32)
    {
        ai[threadIdx.y][threadIdx.x] = a[i * nj + k0 + threadIdx.x];
        for (int r = threadIdx.y; r < 32; r += DIM_THREAD_BLOCK_Y)
            aj[r][threadIdx.x] = a[(blockIdx.x * 32 + r) * nj + k0 + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 32; k++)
            s += ai[threadIdx.y][k] * aj[threadIdx.x][k];
        __syncthreads();
    }
    if (i < ni && j < ni)
        c[i * ni + j] = c[i * ni + j] * beta + alpha * s;
}

int main()
{
    {
        int n = 2048;
        float *A = mk<float>(n * n), *B = mk<float>(n * n), *C = mk<float>(n * n);
        dim3 threads(32, 32);
        MatrixMulCUDA<32><<<dim3(n / 32, n / 32), threads>>>(C, A, B, n, n);
        show("MatrixMulCUDA32", C, n * n * sizeof(float));
        MatrixMulCUDA<16><<<dim3(n / 16, 1024 / 16), dim3(16, 16)>>>(C, A, B, 1024, n);
        show("MatrixMulCUDA16", C, (size_t)1024 * n * sizeof(float));
        gemm_tn<<<dim3(n / 32, n / 32), 256>>>(A, B, C, n, n, n);
        show("gemm_tn", C, n * n * sizeof(float));
        n = 1536;
        syrk_kernel<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(n, n, 1.5f, 0.5f, A, C);
        show("syrk_kernel", C, n * n * sizeof(float));
    }
    {
        int m = 1500, k = 1111, n = 1777;
        float *A = mk<float>(m * k), *B = mk<float>(k * n), *C = mk<float>(m * n);
        dim3 g((n - 1) / TILE_WIDTH + 1, (m - 1) / TILE_WIDTH + 1), b(TILE_WIDTH, TILE_WIDTH);
        matrixMultiplyShared<<<g, b>>>(A, B, C, m, k, k, n, m, n);
        show("matrixMultiplyShared", C, (size_t)m * n * sizeof(float));
    }
    {
        int elems = 8192, q = sem::NP * sem::NP;
        double *A = mk<double>((size_t)elems * q), *B = mk<double>((size_t)elems * q), *C = mk<double>((size_t)elems * q);
        sem::dgemm_batched<<<elems, dim3(sem::NP, 8)>>>(A, B, C, sem::Scalars{1.25, -0.5});
        show("dgemm_batched", C, (size_t)elems * q * sizeof(double));
        int n = 1024;
        dgemm_dyn<<<dim3(n / 16, n / 16), dim3(16, 16), 2 * 16 * 16 * sizeof(double)>>>(A, B, C, n);
        show("dgemm_dyn", C, (size_t)n * n * sizeof(double));
    }
    return 0;
}
