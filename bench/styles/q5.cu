// dense linear algebra
#include "shown.h"

// ------------------------------------------------------------ GEMM, 64x64 tile, 4x4 outputs a thread
template <int BM, int BN, int BK, int TM, int TN>
__global__ void sgemm_register_blocked(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    __shared__ float As[BK][BM];
    __shared__ float Bs[BK][BN];
    const int tid = threadIdx.x;
    const int threadCol = tid % (BN / TN);
    const int threadRow = tid / (BN / TN);
    constexpr int NT = (BM / TM) * (BN / TN);

    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * N + blockIdx.x * BN;

    float acc[TM][TN] = {};
    float regM[TM], regN[TN];
    for (int bk = 0; bk < K; bk += BK) {
        for (int i = tid; i < BM * BK; i += NT) As[i % BK][i / BK] = A[(i / BK) * K + i % BK];
        for (int i = tid; i < BK * BN; i += NT) Bs[i / BN][i % BN] = B[(i / BN) * N + i % BN];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int k = 0; k < BK; ++k) {
            for (int i = 0; i < TM; ++i) regM[i] = As[k][threadRow * TM + i];
            for (int j = 0; j < TN; ++j) regN[j] = Bs[k][threadCol * TN + j];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) acc[i][j] += regM[i] * regN[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            float *c = &C[(threadRow * TM + i) * N + threadCol * TN + j];
            *c = alpha * acc[i][j] + beta * *c;
        }
}

// ------------------------------------------------------------ GEMV, one block a row
__global__ void gemv_row_per_block(const float *A, const float *x, float *y, int m, int n)
{
    extern __shared__ float partial[];
    int row = blockIdx.x;
    int t = threadIdx.x;
    float s = 0.0f;
    for (int j = t; j < n; j += blockDim.x) s += A[(size_t)row * n + j] * x[j];
    partial[t] = s;
    __syncthreads();
    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        int index = 2 * stride * t;
        if (index < blockDim.x) partial[index] += partial[index + stride];
        __syncthreads();
    }
    if (t == 0) y[row] = partial[0];
}

// ------------------------------------------------------------ transpose
#define TILE_DIM 32
#define BLOCK_ROWS 8
__global__ void transposeNoBankConflicts(float *odata, const float *idata, int width, int height)
{
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = idata[(size_t)(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width)
            odata[(size_t)(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// ------------------------------------------------------------ LU of the diagonal tiles
#define LUD_BS 32
__global__ void lud_diagonal_batched(float *m, float shift)
{
    int i, j;
    __shared__ float shadow[LUD_BS][LUD_BS];
    float *tile = m + (size_t)blockIdx.x * LUD_BS * LUD_BS;

    for (i = 0; i < LUD_BS; i++)
        shadow[i][threadIdx.x] = tile[i * LUD_BS + threadIdx.x] + (i == threadIdx.x ? shift : 0.0f);
    __syncthreads();
    for (i = 0; i < LUD_BS - 1; i++) {
        if (threadIdx.x > i) {
            for (j = 0; j < i; j++)
                shadow[threadIdx.x][i] -= shadow[threadIdx.x][j] * shadow[j][i];
            shadow[threadIdx.x][i] /= shadow[i][i];
        }
        __syncthreads();
        if (threadIdx.x > i) {
            for (j = 0; j < i + 1; j++)
                shadow[i + 1][threadIdx.x] -= shadow[i + 1][j] * shadow[j][threadIdx.x];
        }
        __syncthreads();
    }
    for (i = 0; i < LUD_BS; i++)
        tile[i * LUD_BS + threadIdx.x] = shadow[i][threadIdx.x];
}

// ------------------------------------------------------------ Cholesky of small tiles
#define CH 16
__global__ void cholesky_tile_batched(const double *A, double *L, double lambda)
{
    __shared__ double a[CH][CH + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const size_t off = (size_t)blockIdx.x * CH * CH;
    a[ty][tx] = ty >= tx ? A[off + ty * CH + tx] : 0.0;
    if (tx == ty) a[ty][tx] += lambda;
    __syncthreads();
    for (int k = 0; k < CH; ++k) {
        if (tx == k && ty == k) a[k][k] = sqrt(a[k][k]);
        __syncthreads();
        if (tx == k && ty > k) a[ty][k] /= a[k][k];
        __syncthreads();
        if (tx > k && ty >= tx) a[ty][tx] -= a[ty][k] * a[tx][k];
        __syncthreads();
    }
    L[off + ty * CH + tx] = a[ty][tx];
}

// ------------------------------------------------------------ triangular solve L X = B, 32 rows, 32 right hand sides a block
constexpr int TS = 32;
constexpr int TS_ROWS = 8;
__global__ void trsm_lower_left_tile(const float *Lmat, const float *B, float *X, int nrhs, float diagAdd)
{
    __shared__ float Ls[TS][TS];
    __shared__ float Bs[TS][TS + 1];
    const int c = threadIdx.x;
    const int col = blockIdx.x * TS + c;
    const size_t sys = blockIdx.y;
    for (int r = threadIdx.y; r < TS; r += TS_ROWS) {
        float l = Lmat[sys * TS * TS + r * TS + c];
        Ls[r][c] = r == c ? l + diagAdd : l;
        Bs[r][c] = col < nrhs ? B[(sys * TS + r) * nrhs + col] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < TS; ++k) {
        if (threadIdx.y == 0) Bs[k][c] /= Ls[k][k];
        __syncthreads();
        for (int r = k + 1 + threadIdx.y; r < TS; r += TS_ROWS)
            Bs[r][c] -= Ls[r][k] * Bs[k][c];
        __syncthreads();
    }
    if (col < nrhs)
        for (int r = threadIdx.y; r < TS; r += TS_ROWS) X[(sys * TS + r) * nrhs + col] = Bs[r][c];
}

// ------------------------------------------------------------ C = alpha A A' + beta C, any size
#define SY 16
__global__ void syrk_guarded_tiles(const float *A, float *C, int n, int k, float alpha, float beta)
{
    __shared__ float Ai[SY][SY];
    __shared__ float Aj[SY][SY + 1];
    if (blockIdx.x > blockIdx.y) return;        // the lower triangle only
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int i = blockIdx.y * SY + ty;
    int j = blockIdx.x * SY + tx;
    int jj = blockIdx.x * SY + ty;
    float sum = 0.f;
    for (int p = 0; p < (k - 1) / SY + 1; p++) {
        int kk = p * SY + tx;
        if (i < n && kk < k) Ai[ty][tx] = A[i * k + kk];
        else Ai[ty][tx] = 0.f;
        if (jj < n && kk < k) Aj[ty][tx] = A[jj * k + kk];
        else Aj[ty][tx] = 0.f;
        __syncthreads();
        for (int q = 0; q < SY; q++) sum += Ai[ty][q] * Aj[tx][q];
        __syncthreads();
    }
    if (i < n && j <= i) C[i * n + j] = alpha * sum + beta * C[i * n + j];
}

// ------------------------------------------------------------ one 4x4 QR (Givens) for each thread
__global__ void givens_qr4_per_thread(const float *A, float *R, float *qtb, int n)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n) return;
    float a[4][5];
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) a[i][j] = A[(i * 4 + j) * n + id] + (i == j ? 3.0f : 0.0f);
        a[i][4] = 1.0f + i;
    }
    for (int j = 0; j < 3; j++) {
        for (int i = 3; i > j; i--) {
            float x = a[i - 1][j], y = a[i][j];
            float r = sqrtf(x * x + y * y);
            float c = r > 0.f ? x / r : 1.f;
            float s = r > 0.f ? y / r : 0.f;
            for (int k = j; k < 5; k++) {
                float u = a[i - 1][k], v = a[i][k];
                a[i - 1][k] = c * u + s * v;
                a[i][k] = c * v - s * u;
            }
        }
    }
    int o = 0;
    for (int i = 0; i < 4; i++) {
        for (int j = i; j < 4; j++) R[(o++) * n + id] = a[i][j];
        qtb[i * n + id] = a[i][4];
    }
}

int main()
{
    size_t n = 40000000;
    float *A = mk<float>(n), *B = mk<float>(n), *C = mk<float>(n);

    int M = 2048, N = 1536, K = 768;
    sgemm_register_blocked<64, 64, 16, 4, 4><<<dim3(N / 64, M / 64), 256>>>(M, N, K, 1.5f, A, B, 0.5f, C);
    show("sgemm_register_blocked", C, (size_t)M * N * 4);

    int gm = 9000, gn = 4001;
    float *y = mk<float>(gm);
    gemv_row_per_block<<<gm, 128, 128 * sizeof(float)>>>(A, B, y, gm, gn);
    show("gemv_row_per_block", y, gm * 4);

    int tw = 4999, th = 4003;
    transposeNoBankConflicts<<<dim3((tw + 31) / 32, (th + 31) / 32), dim3(TILE_DIM, BLOCK_ROWS)>>>(C, A, tw, th);
    show("transposeNoBankConflicts", C, (size_t)tw * th * 4);

    int tiles = 8000;
    float *lu = mk<float>((size_t)tiles * LUD_BS * LUD_BS);
    lud_diagonal_batched<<<tiles, LUD_BS>>>(lu, 500.0f);
    show("lud_diagonal_batched", lu, (size_t)tiles * LUD_BS * LUD_BS * 4);

    int chn = 20000;
    double *da = mk<double>((size_t)chn * CH * CH), *dl = mk<double>((size_t)chn * CH * CH);
    cholesky_tile_batched<<<chn, dim3(CH, CH)>>>(da, dl, 256.0);
    show("cholesky_tile_batched", dl, (size_t)chn * CH * CH * 8);

    int systems = 600, nrhs = 500;
    trsm_lower_left_tile<<<dim3((nrhs + TS - 1) / TS, systems), dim3(TS, TS_ROWS)>>>(A, B, C, nrhs, 200.0f);
    show("trsm_lower_left_tile", C, (size_t)systems * TS * nrhs * 4);

    int sn = 1500, sk = 333;
    syrk_guarded_tiles<<<dim3((sn + SY - 1) / SY, (sn + SY - 1) / SY), dim3(SY, SY)>>>(A, C, sn, sk, 0.5f, 0.25f);
    show("syrk_guarded_tiles", C, (size_t)sn * sn * 4);

    int qn = 1000003;
    givens_qr4_per_thread<<<(qn + 191) / 192, 192>>>(A, B, C, qn);
    show("givens_qr4_per_thread R", B, (size_t)qn * 10 * 4);
    show("givens_qr4_per_thread qtb", C, (size_t)qn * 4 * 4);
    return 0;
}
