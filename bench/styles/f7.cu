// tiled matrix products in many spellings
#include "shown.h"

// ------------ CUDA programming guide: struct Matrix and sub-matrices ------------
#define BLOCK_SIZE 16
typedef struct {
    int width;
    int height;
    int stride;
    float* elements;
} Matrix;

__device__ float GetElement(const Matrix A, int row, int col)
{
    return A.elements[row * A.stride + col];
}
__device__ void SetElement(Matrix A, int row, int col, float value)
{
    A.elements[row * A.stride + col] = value;
}
__device__ Matrix GetSubMatrix(Matrix A, int row, int col)
{
    Matrix Asub;
    Asub.width    = BLOCK_SIZE;
    Asub.height   = BLOCK_SIZE;
    Asub.stride   = A.stride;
    Asub.elements = &A.elements[A.stride * BLOCK_SIZE * row + BLOCK_SIZE * col];
    return Asub;
}

__global__ void MatMulKernel(Matrix A, Matrix B, Matrix C)
{
    int blockRow = blockIdx.y;
    int blockCol = blockIdx.x;
    Matrix Csub = GetSubMatrix(C, blockRow, blockCol);
    float Cvalue = 0;
    int row = threadIdx.y;
    int col = threadIdx.x;
    for (int m = 0; m < (A.width / BLOCK_SIZE); ++m) {
        Matrix Asub = GetSubMatrix(A, blockRow, m);
        Matrix Bsub = GetSubMatrix(B, m, blockCol);
        __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
        As[row][col] = GetElement(Asub, row, col);
        Bs[row][col] = GetElement(Bsub, row, col);
        __syncthreads();
        for (int e = 0; e < BLOCK_SIZE; ++e)
            Cvalue += As[row][e] * Bs[e][col];
        __syncthreads();
    }
    SetElement(Csub, row, col, Cvalue);
}

// ------------ textbook, guarded for any shape, C = alpha*A*B^T + beta*C, padded tiles ------------
template <typename T, int TILE_WIDTH>
__global__ void gemm_nt(int M, int N, int K, T alpha, const T* A, int lda, const T* B, int ldb, T beta, T* C, int ldc) {
  __shared__ T ds_A[TILE_WIDTH][TILE_WIDTH + 1];
  __shared__ T ds_B[TILE_WIDTH][TILE_WIDTH + 1];
  const int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  const int Row = by * TILE_WIDTH + ty;
  const int Col = bx * TILE_WIDTH + tx;
  const int BRow = bx * TILE_WIDTH + ty;
  T Pvalue = 0;
  for (int p = 0; p < (K - 1) / TILE_WIDTH + 1; ++p) {
    const int k = p * TILE_WIDTH + tx;
    if (Row < M && k < K) ds_A[ty][tx] = A[(size_t)Row * lda + k];
    else ds_A[ty][tx] = T(0);
    if (BRow < N && k < K) ds_B[tx][ty] = B[(size_t)BRow * ldb + k];
    else ds_B[tx][ty] = T(0);
    __syncthreads();
    for (int i = 0; i < TILE_WIDTH; ++i)
      Pvalue += ds_A[ty][i] * ds_B[i][tx];
    __syncthreads();
  }
  if (Row < M && Col < N) C[(size_t)Row * ldc + Col] = alpha * Pvalue + beta * C[(size_t)Row * ldc + Col];
}

// ------------ Volkov style: 64x16 tile of C, column major, 16 results per thread, B in shared ------------
__device__ void saxpy16(float a, const float *b, float *c)
{
#pragma unroll
	for (int i = 0; i < 16; i++)
		c[i] += a * b[i];
}

__global__ void sgemmNT_volkov(const float *A, int lda, const float *B, int ldb, float *C, int ldc, int k, float alpha, float beta)
{
	const int inx = threadIdx.x;
	const int iny = threadIdx.y;
	const int ibx = blockIdx.x * 64;
	const int iby = blockIdx.y * 16;
	const int id  = inx + iny * 16;

	A += ibx + id;
	B += iby + inx + (iny * ldb);
	C += ibx + id + (iby * ldc);

	const float *Blast = B + k * ldb;
	float c[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

	do {
		__shared__ float bs[16][16];
#pragma unroll
		for (int i = 0; i < 16; i += 4)
			bs[iny + i][inx] = B[i * ldb];
		__syncthreads();
#pragma unroll
		for (int i = 0; i < 16; i++, A += lda)
			saxpy16(A[0], &bs[i][0], c);
		B += 16 * ldb;
		__syncthreads();
	} while (B < Blast);

	for (int i = 0; i < 16; i++, C += ldc)
		C[0] = alpha * c[i] + beta * C[0];
}

// ------------ register blocked 64x64x8, 4x4 per thread, bias and ReLU epilogue ------------
enum class Act { None, Relu };
template <int BM, int BN, int BK, int TM, int TN, Act act>
__global__ void __launch_bounds__((BM * BN) / (TM * TN))
dense_layer(int M, int N, int K, const float *__restrict__ A, const float *__restrict__ B, const float *__restrict__ bias, float *__restrict__ C)
{
    __shared__ float As[BK * BM];   // stored transposed
    __shared__ float Bs[BK * BN];
    constexpr int threads = (BM * BN) / (TM * TN);
    const int threadCol = threadIdx.x % (BN / TN);
    const int threadRow = threadIdx.x / (BN / TN);
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float acc[TM][TN] = {};
    float regM[TM], regN[TN];
    for (int bk = 0; bk < K; bk += BK) {
        for (int e = threadIdx.x; e < BM * BK; e += threads) {
            const int r = e / BK, c = e % BK;
            As[c * BM + r] = (row0 + r < M && bk + c < K) ? A[(size_t)(row0 + r) * K + bk + c] : 0.f;
        }
        for (int e = threadIdx.x; e < BK * BN; e += threads) {
            const int r = e / BN, c = e % BN;
            Bs[r * BN + c] = (bk + r < K && col0 + c < N) ? B[(size_t)(bk + r) * N + col0 + c] : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < BK; ++d) {
            for (int i = 0; i < TM; ++i) regM[i] = As[d * BM + threadRow * TM + i];
            for (int i = 0; i < TN; ++i) regN[i] = Bs[d * BN + threadCol * TN + i];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) acc[i][j] += regM[i] * regN[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            const int r = row0 + threadRow * TM + i, c = col0 + threadCol * TN + j;
            if (r < M && c < N) {
                float v = acc[i][j] + bias[c];
                C[(size_t)r * N + c] = (act == Act::Relu && v < 0.f) ? 0.f : v;
            }
        }
}

// ------------ batched complex product of small matrices, conjugate of the left one ------------
struct Cplx {
  float re, im;
  __device__ Cplx& fma(const Cplx& a, const Cplx& b) {   // this += conj(a) * b
    re += a.re * b.re + a.im * b.im;
    im += a.re * b.im - a.im * b.re;
    return *this;
  }
};

__global__ void ZBatchedHermitian( const Cplx* A, const Cplx* B, Cplx* C, int n, int batch )
{
  // C = A^H * B ; order n <= 24, several matrices per block through threadIdx.z
  extern __shared__ Cplx sm[];
  Cplx* a = sm + 2 * n * n * threadIdx.z;
  Cplx* b = a + n * n;
  const int id = blockIdx.x * blockDim.z + threadIdx.z;
  const int i = threadIdx.y, j = threadIdx.x;
  const size_t off = (size_t)id * n * n;
  if( id < batch )
  {
    a[ i * n + j ] = A[ off + i * n + j ];
    b[ i * n + j ] = B[ off + i * n + j ];
  }
  __syncthreads();
  if( id < batch )
  {
    Cplx s = { 0.f, 0.f };
    for( int k = 0; k < n; ++k )
      s.fma( a[ k * n + i ], b[ k * n + j ] );
    C[ off + i * n + j ] = s;
  }
}

// ------------ int8 with four-wide dot products, int32 accumulators, requantised with a shift ------------
#define I8_TILE 32
__global__ void igemm_s8(const char4 *__restrict__ A4, const char4 *__restrict__ Bt4, signed char *__restrict__ C8, int m, int n, int k4, int shift)
{
    __shared__ char4 sa[I8_TILE][I8_TILE / 4 + 1];
    __shared__ char4 sb[I8_TILE][I8_TILE / 4 + 1];
    int tid = threadIdx.y * 32 + threadIdx.x;          // 32 x 8 threads
    int acc[4] = {0, 0, 0, 0};
    for (int t = 0; t < k4; t += 8) {
        int r = tid >> 3, c = tid & 7;
        int ga = blockIdx.y * 32 + r, gb = blockIdx.x * 32 + r;
        char4 zero = make_char4(0, 0, 0, 0);
        sa[r][c] = (ga < m && t + c < k4) ? A4[(size_t)ga * k4 + t + c] : zero;
        sb[r][c] = (gb < n && t + c < k4) ? Bt4[(size_t)gb * k4 + t + c] : zero;
        __syncthreads();
        for (int c2 = 0; c2 < 8; c2++) {
            char4 q = sb[threadIdx.x][c2];
#pragma unroll
            for (int u = 0; u < 4; u++) {
                char4 p = sa[threadIdx.y + 8 * u][c2];
                acc[u] += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
            }
        }
        __syncthreads();
    }
    int col = blockIdx.x * 32 + threadIdx.x;
    for (int u = 0; u < 4; u++) {
        int row = blockIdx.y * 32 + threadIdx.y + 8 * u;
        if (row < m && col < n) {
            int v = acc[u] >> shift;
            C8[(size_t)row * n + col] = (signed char)max(-128, min(127, v));
        }
    }
}

template <class T> T *mat(size_t n, unsigned s, float amp)
{
    T *h = (T *)malloc(n * sizeof(T)), *d;
    for (size_t i = 0; i < n; i++) { s = s * 1664525u + 1013904223u; h[i] = (T)(amp * ((float)(s >> 8) / 8388608.f - 1.f)); }
    cudaMalloc(&d, n * sizeof(T));
    cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice);
    free(h);
    return d;
}

int main()
{
    {
        int m = 1536, n = 1024, k = 2048;
        Matrix A = {k, m, k, mat<float>((size_t)m * k, 1, 1.f)}, B = {n, k, n, mat<float>((size_t)k * n, 2, 1.f)}, C = {n, m, n, mk<float>((size_t)m * n)};
        MatMulKernel<<<dim3(n / BLOCK_SIZE, m / BLOCK_SIZE), dim3(BLOCK_SIZE, BLOCK_SIZE)>>>(A, B, C);
        show("MatMulKernel", C.elements, (size_t)m * n * 4);
    }
    {
        int m = 1001, n = 1303, k = 900;
        float *A = mat<float>((size_t)m * k, 3, 1.f), *B = mat<float>((size_t)n * k, 4, 1.f), *C = mat<float>((size_t)m * n, 5, 1.f);
        gemm_nt<float, 32><<<dim3((n + 31) / 32, (m + 31) / 32), dim3(32, 32)>>>(m, n, k, 1.5f, A, k, B, k, -0.5f, C, n);
        show("gemm_nt<float,32>", C, (size_t)m * n * 4);
        double *dA = mat<double>((size_t)m * k, 6, 1.f), *dB = mat<double>((size_t)n * k, 7, 1.f), *dC = mat<double>((size_t)m * n, 8, 1.f);
        gemm_nt<double, 16><<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k - 3, 1.0, dA, k, dB, k, 0.25, dC, n);
        show("gemm_nt<double,16>", dC, (size_t)m * n * 8);
    }
    {
        int m = 2048, n = 2048, k = 1024;
        float *A = mat<float>((size_t)m * k, 9, 1.f), *B = mat<float>((size_t)n * k, 10, 1.f), *C = mat<float>((size_t)m * n, 11, 1.f);
        sgemmNT_volkov<<<dim3(m / 64, n / 16), dim3(16, 4)>>>(A, m, B, n, C, m, k, 0.7f, 0.3f);
        show("sgemmNT_volkov", C, (size_t)m * n * 4);
    }
    {
        int m = 2000, n = 1100, k = 1003;
        float *A = mat<float>((size_t)m * k, 12, 1.f), *B = mat<float>((size_t)n * k, 13, 1.f), *b = mat<float>(n, 14, 3.f), *C = mk<float>((size_t)m * n);
        dense_layer<64, 64, 8, 4, 4, Act::Relu><<<dim3((n + 63) / 64, (m + 63) / 64), 256>>>(m, n, k, A, B, b, C);
        show("dense_layer<64,64,8,relu>", C, (size_t)m * n * 4);
        dense_layer<32, 64, 16, 2, 8, Act::None><<<dim3((n + 63) / 64, (m + 31) / 32), 128>>>(m, n, k, A, B, b, C);
        show("dense_layer<32,64,16,none>", C, (size_t)m * n * 4);
    }
    {
        int n = 12, batch = 50001, per = 3;
        Cplx *A = (Cplx *)mat<float>(2 * (size_t)batch * n * n, 15, 1.f), *B = (Cplx *)mat<float>(2 * (size_t)batch * n * n, 16, 1.f), *C = (Cplx *)mk<float>(2 * (size_t)batch * n * n);
        ZBatchedHermitian<<<(batch + per - 1) / per, dim3(n, n, per), 2 * n * n * per * sizeof(Cplx)>>>(A, B, C, n, batch);
        show("ZBatchedHermitian", C, 8 * (size_t)batch * n * n);
    }
    {
        int m = 1500, n = 1501, k4 = 253;
        char4 *A = (char4 *)mat<signed char>(4 * (size_t)m * k4, 17, 100.f), *B = (char4 *)mat<signed char>(4 * (size_t)n * k4, 18, 100.f);
        signed char *C = mk<signed char>((size_t)m * n);
        igemm_s8<<<dim3((n + 31) / 32, (m + 31) / 32), dim3(32, 8)>>>(A, B, C, m, n, k4, 10);
        show("igemm_s8", C, (size_t)m * n);
    }
    return 0;
}
