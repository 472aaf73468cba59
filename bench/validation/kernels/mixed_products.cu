// Tiled products beyond the square float one: half inputs with float sums, a
// transposed operand with rectangular tiles, unsigned elements, and the
// (min, +) product of shortest paths.
#include "validation.cuh"
#include <cuda_fp16.h>

#define TS 16

// C = alpha A B + beta D
__global__ void halfGemm(const half *A, const half *B, const float *D, float *C,
                         int M, int N, int K, float alpha, float beta) {
  __shared__ half As[TS][TS], Bs[TS][TS];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TS + ty, col = blockIdx.x * TS + tx;
  float acc = 0.0f;
  for (int k0 = 0; k0 < K; k0 += TS) {
    As[ty][tx] = row < M && k0 + tx < K ? A[(size_t)row * K + k0 + tx]
                                        : __float2half(0.0f);
    Bs[ty][tx] = k0 + ty < K && col < N ? B[(size_t)(k0 + ty) * N + col]
                                        : __float2half(0.0f);
    __syncthreads();
    for (int k = 0; k < TS; ++k)
      acc += __half2float(As[ty][k]) * __half2float(Bs[k][tx]);
    __syncthreads();
  }
  if (row < M && col < N)
    C[(size_t)row * N + col] = alpha * acc + beta * D[(size_t)row * N + col];
}

// C = A^T B; A is K x M. 32 x 8 threads make 32 x 32 elements.
__global__ void gemmTN(const float *A, const float *B, float *C, int M, int N,
                       int K) {
  __shared__ float At[8][32], Bt[8][32];
  int tx = threadIdx.x, ty = threadIdx.y;
  int m0 = blockIdx.y * 32, n0 = blockIdx.x * 32;
  float c[4] = {0.f, 0.f, 0.f, 0.f};
  for (int k0 = 0; k0 < K; k0 += 8) {
    At[ty][tx] = A[(size_t)(k0 + ty) * M + m0 + tx];
    Bt[ty][tx] = B[(size_t)(k0 + ty) * N + n0 + tx];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
      float b = Bt[k][tx];
#pragma unroll
      for (int r = 0; r < 4; r++)
        c[r] += At[k][ty + 8 * r] * b;
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 4; r++)
    C[(size_t)(m0 + ty + 8 * r) * N + n0 + tx] = c[r];
}

// modulo 2^32; 32 columns and 8 rows a block
__global__ void productU32(const unsigned *a, const unsigned *b, unsigned *c,
                           int m, int n, int p) {
  __shared__ unsigned sa[8][32];
  __shared__ unsigned sb[32][33];
  int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  unsigned sum = 0;
  for (int t = 0; t < (n + 31) / 32; ++t) {
    int k = t * 32 + threadIdx.x;
    sa[threadIdx.y][threadIdx.x] = row < m && k < n ? a[(size_t)row * n + k] : 0;
    for (int j = threadIdx.y; j < 32; j += 8)
      sb[j][threadIdx.x] =
          t * 32 + j < n && col < p ? b[(size_t)(t * 32 + j) * p + col] : 0;
    __syncthreads();
    for (int j = 0; j < 32; ++j)
      sum += sa[threadIdx.y][j] * sb[j][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < p)
    c[(size_t)row * p + col] = sum;
}

__global__ void minPlus(const int *d, int *out, int n) {
  __shared__ int left[TS][TS];
  __shared__ int right[TS][TS];
  int i = blockIdx.y * TS + threadIdx.y, j = blockIdx.x * TS + threadIdx.x;
  int best = d[i * n + j];
  for (int b = 0; b < n / TS; b++) {
    left[threadIdx.y][threadIdx.x] = d[i * n + b * TS + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = d[(b * TS + threadIdx.y) * n + j];
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < TS; k++)
      best = min(best, left[threadIdx.y][k] + right[k][threadIdx.x]);
    __syncthreads();
  }
  out[i * n + j] = best;
}

void hgemm(const half *A, const half *B, const float *D, float *C, int M, int N,
           int K) {
  dim3 block(TS, TS), grid((N + TS - 1) / TS, (M + TS - 1) / TS);
  halfGemm<<<grid, block>>>(A, B, D, C, M, N, K, 1.5f, 0.25f);
}
void tn(const float *A, const float *B, float *C, int M, int N, int K) {
  gemmTN<<<dim3(N / 32, M / 32), dim3(32, 8)>>>(A, B, C, M, N, K);
}
void u32(const unsigned *a, const unsigned *b, unsigned *c, int m, int n,
         int p) {
  dim3 threads(32, 8);
  productU32<<<dim3((p + 31) / 32, (m + 7) / 8), threads>>>(a, b, c, m, n, p);
}
void paths(const int *d, int *out, int n) {
  dim3 block(TS, TS), grid(n / TS, n / TS);
  minPlus<<<grid, block>>>(d, out, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  // M, N, K
  for (Extent e : extents({{2048, 2048, 1024}, {1000, 1500, 777}}, {19, 35, 21})) {
    size_t a = (size_t)e.x * e.z, b = (size_t)e.z * e.y, c = (size_t)e.x * e.y;
    half *A = filled<half>(a, 611), *B = filled<half>(b, 612);
    float *D = filled<float>(c, 613), *C = zeros<float>(c);
    measure("halfGemm", text(e), [&] { hgemm(A, B, D, C, e.x, e.y, e.z); },
            {result(C, c)});
    unsigned *ua = filled<unsigned>(a, 614, 0, 100000),
             *ub = filled<unsigned>(b, 615, 0, 100000), *uc = zeros<unsigned>(c);
    measure("productU32", text(e), [&] { u32(ua, ub, uc, e.x, e.z, e.y); },
            {result(uc, c)});
    release(A, B, D, C, ua, ub, uc);
  }
  for (Extent e : extents({{2048, 2048, 2048}, {1024, 4096, 256}}, {32, 64, 16})) {
    size_t a = (size_t)e.x * e.z, b = (size_t)e.z * e.y, c = (size_t)e.x * e.y;
    float *A = filled<float>(a, 616), *B = filled<float>(b, 617),
          *C = zeros<float>(c);
    measure("gemmTN", text(e), [&] { tn(A, B, C, e.x, e.y, e.z); },
            {result(C, c)});
    release(A, B, C);
  }
  for (int n : sizes({2048, 1024}, 48)) {
    size_t c = (size_t)n * n;
    int *d = filled<int>(c, 618, 1, 1000), *o = zeros<int>(c);
    measure("minPlus", text(n), [&] { paths(d, o, n); }, {result(o, c)});
    release(d, o);
  }
}
