// CS course project: matrix library
#include "h.h"
#include <cstdint>

#define TILE_WIDTH 32

typedef struct {
  int width;
  int height;
  int stride;
  float *elements;
} Matrix7;

__device__ float GetElem(const Matrix7 A, int row, int col) { return A.elements[row * A.stride + col]; }
__device__ void SetElem(Matrix7 A, int row, int col, float v) { A.elements[row * A.stride + col] = v; }

// sizes are multiples of the block
__global__ void MatMulStructs(Matrix7 A, Matrix7 B, Matrix7 C) {
  int blockRow = blockIdx.y, blockCol = blockIdx.x;
  int row = threadIdx.y, col = threadIdx.x;
  __shared__ float As[16][16];
  __shared__ float Bs[16][16];
  float Cvalue = 0;
  for (int m = 0; m < (A.width / 16); ++m) {
    As[row][col] = GetElem(A, blockRow * 16 + row, m * 16 + col);
    Bs[row][col] = GetElem(B, m * 16 + row, blockCol * 16 + col);
    __syncthreads();
    for (int e = 0; e < 16; ++e) Cvalue += As[row][e] * Bs[e][col];
    __syncthreads();
  }
  SetElem(C, blockRow * 16 + row, blockCol * 16 + col, Cvalue);
}

__global__ void MatMulGuard(const float *d_M, const float *d_N, float *d_P, int m, int k, int n) {
  __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
  __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int Row = by * TILE_WIDTH + ty;
  int Col = bx * TILE_WIDTH + tx;
  float Pvalue = 0;
  for (int ph = 0; ph < (k - 1) / TILE_WIDTH + 1; ++ph) {
    if (Row < m && ph * TILE_WIDTH + tx < k)
      Mds[ty][tx] = d_M[Row * k + ph * TILE_WIDTH + tx];
    else
      Mds[ty][tx] = 0.0f;
    if (ph * TILE_WIDTH + ty < k && Col < n)
      Nds[ty][tx] = d_N[(ph * TILE_WIDTH + ty) * n + Col];
    else
      Nds[ty][tx] = 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE_WIDTH; ++i) Pvalue += Mds[ty][i] * Nds[i][tx];
    __syncthreads();
  }
  if (Row < m && Col < n) d_P[Row * n + Col] = Pvalue;
}

// A * B^T, B is n x k row major
template <typename T, int TS>
__global__ void MatMulNT(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ c, unsigned m, unsigned n,
                         unsigned k) {
  __shared__ T sa[TS][TS + 1];
  __shared__ T sb[TS][TS + 1];
  const unsigned r = blockIdx.y * TS + threadIdx.y;
  const unsigned q = blockIdx.x * TS + threadIdx.x;
  const unsigned rb = blockIdx.x * TS + threadIdx.y;
  T acc = T(0);
  for (unsigned t = 0; t < k; t += TS) {
    sa[threadIdx.y][threadIdx.x] = (r < m && t + threadIdx.x < k) ? a[r * k + t + threadIdx.x] : T(0);
    sb[threadIdx.y][threadIdx.x] = (rb < n && t + threadIdx.x < k) ? b[rb * k + t + threadIdx.x] : T(0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TS; ++i) acc += sa[threadIdx.y][i] * sb[threadIdx.x][i];
    __syncthreads();
  }
  if (r < m && q < n) c[r * n + q] = acc;
}

// y = A x with x staged piece by piece
__global__ void MatVecStaged(const float *A, const float *x, float *y, int rows, int cols) {
  __shared__ float xs[256];
  int r = blockIdx.x * 256 + threadIdx.x;
  float s = 0;
  for (int c0 = 0; c0 < cols; c0 += 256) {
    xs[threadIdx.x] = c0 + threadIdx.x < cols ? x[c0 + threadIdx.x] : 0.f;
    __syncthreads();
    if (r < rows)
      for (int c = 0; c < 256 && c0 + c < cols; ++c) s += A[(size_t)(c0 + c) * rows + r] * xs[c];
    __syncthreads();
  }
  if (r < rows) y[r] = s;
}

void dump(const char *s, float *d, size_t cnt) {
  unsigned char *h = (unsigned char *)malloc(cnt * 4);
  cudaMemcpy(h, d, cnt * 4, cudaMemcpyDeviceToHost);
  unsigned long long f = 14695981039346656037ull;
  for (size_t i = 0; i < cnt * 4; i++) f = (f ^ h[i]) * 1099511628211ull;
  printf("%s : %llu\n", s, f);
  free(h);
}

int main() {
  Matrix7 A{1024, 1024, 1024, mk<float>(1024 * 1024)}, B{1024, 1024, 1024, mk<float>(1024 * 1024)}, C{1024, 1024, 1024, 0};
  cudaMalloc(&C.elements, 1024 * 1024 * 4);
  MatMulStructs<<<dim3(64, 64), dim3(16, 16)>>>(A, B, C);
  const int m = 1000, k = 700, n = 1234;
  float *M = mk<float>(m * k), *N = mk<float>(k * n), *P;
  cudaMalloc(&P, m * n * 4);
  MatMulGuard<<<dim3((n + 31) / 32, (m + 31) / 32), dim3(32, 32)>>>(M, N, P, m, k, n);
  const unsigned tm = 777, tn = 1100, tk = 512;
  double *ta = mk<double>(tm * tk), *tb = mk<double>(tn * tk), *tc;
  cudaMalloc(&tc, tm * tn * 8);
  MatMulNT<double, 16><<<dim3((tn + 15) / 16, (tm + 15) / 16), dim3(16, 16)>>>(ta, tb, tc, tm, tn, tk);
  const int rows = 40000, cols = 1000;
  float *V = mk<float>((size_t)rows * cols), *x = mk<float>(cols), *y;
  cudaMalloc(&y, rows * 4);
  MatVecStaged<<<(rows + 255) / 256, 256>>>(V, x, y, rows, cols);
  cudaDeviceSynchronize();
  dump("structs", C.elements, 1024 * 1024);
  dump("guard", P, m * n);
  dump("nt", (float *)tc, tm * tn * 2);
  dump("matvec", y, rows);
}
