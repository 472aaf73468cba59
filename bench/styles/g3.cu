// sample-style kernels: separable convolution, transpose, products, wavelet
#include "shown.h"

#define KERNEL_RADIUS 8
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
__constant__ float c_Kernel[KERNEL_LENGTH];

#define ROWS_BLOCKDIM_X 16
#define ROWS_BLOCKDIM_Y 4
#define ROWS_RESULT_STEPS 8
#define ROWS_HALO_STEPS 1

__global__ void convolutionRows(float *d_Dst, const float *d_Src, int imageW, int imageH, int pitch) {
  __shared__ float s_Data[ROWS_BLOCKDIM_Y][(ROWS_RESULT_STEPS + 2 * ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X];
  const int baseX = (blockIdx.x * ROWS_RESULT_STEPS - ROWS_HALO_STEPS) * ROWS_BLOCKDIM_X + threadIdx.x;
  const int baseY = blockIdx.y * ROWS_BLOCKDIM_Y + threadIdx.y;
  d_Src += baseY * pitch + baseX;
  d_Dst += baseY * pitch + baseX;
#pragma unroll
  for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++)
    s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = d_Src[i * ROWS_BLOCKDIM_X];
#pragma unroll
  for (int i = 0; i < ROWS_HALO_STEPS; i++)
    s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (baseX >= -i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
#pragma unroll
  for (int i = ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS + ROWS_HALO_STEPS; i++)
    s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X] = (imageW - baseX > i * ROWS_BLOCKDIM_X) ? d_Src[i * ROWS_BLOCKDIM_X] : 0;
  __syncthreads();
#pragma unroll
  for (int i = ROWS_HALO_STEPS; i < ROWS_HALO_STEPS + ROWS_RESULT_STEPS; i++) {
    float sum = 0;
#pragma unroll
    for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
      sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.y][threadIdx.x + i * ROWS_BLOCKDIM_X + j];
    d_Dst[i * ROWS_BLOCKDIM_X] = sum;
  }
}

#define COLUMNS_BLOCKDIM_X 16
#define COLUMNS_BLOCKDIM_Y 8
#define COLUMNS_RESULT_STEPS 8
#define COLUMNS_HALO_STEPS 1
__global__ void convolutionColumns(float *d_Dst, const float *d_Src, int imageW, int imageH, int pitch) {
  __shared__ float s_Data[COLUMNS_BLOCKDIM_X][(COLUMNS_RESULT_STEPS + 2 * COLUMNS_HALO_STEPS) * COLUMNS_BLOCKDIM_Y + 1];
  const int baseX = blockIdx.x * COLUMNS_BLOCKDIM_X + threadIdx.x;
  const int baseY = (blockIdx.y * COLUMNS_RESULT_STEPS - COLUMNS_HALO_STEPS) * COLUMNS_BLOCKDIM_Y + threadIdx.y;
  d_Src += baseY * pitch + baseX;
  d_Dst += baseY * pitch + baseX;
#pragma unroll
  for (int i = COLUMNS_HALO_STEPS; i < COLUMNS_HALO_STEPS + COLUMNS_RESULT_STEPS; i++)
    s_Data[threadIdx.x][threadIdx.y + i * COLUMNS_BLOCKDIM_Y] = d_Src[i * COLUMNS_BLOCKDIM_Y * pitch];
#pragma unroll
  for (int i = 0; i < COLUMNS_HALO_STEPS; i++)
    s_Data[threadIdx.x][threadIdx.y + i * COLUMNS_BLOCKDIM_Y] = (baseY >= -i * COLUMNS_BLOCKDIM_Y) ? d_Src[i * COLUMNS_BLOCKDIM_Y * pitch] : 0;
#pragma unroll
  for (int i = COLUMNS_HALO_STEPS + COLUMNS_RESULT_STEPS; i < COLUMNS_HALO_STEPS + COLUMNS_RESULT_STEPS + COLUMNS_HALO_STEPS; i++)
    s_Data[threadIdx.x][threadIdx.y + i * COLUMNS_BLOCKDIM_Y] = (imageH - baseY > i * COLUMNS_BLOCKDIM_Y) ? d_Src[i * COLUMNS_BLOCKDIM_Y * pitch] : 0;
  __syncthreads();
#pragma unroll
  for (int i = COLUMNS_HALO_STEPS; i < COLUMNS_HALO_STEPS + COLUMNS_RESULT_STEPS; i++) {
    float sum = 0;
#pragma unroll
    for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++)
      sum += c_Kernel[KERNEL_RADIUS - j] * s_Data[threadIdx.x][threadIdx.y + i * COLUMNS_BLOCKDIM_Y + j];
    d_Dst[i * COLUMNS_BLOCKDIM_Y * pitch] = sum;
  }
}

const int TILE_DIM = 32;
const int BLOCK_ROWS = 8;
__global__ void transposeNoBankConflicts(float *odata, const float *idata, int width, int height) {
  __shared__ float tile[TILE_DIM][TILE_DIM + 1];
  int x = blockIdx.x * TILE_DIM + threadIdx.x;
  int y = blockIdx.y * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * TILE_DIM + threadIdx.x;
  y = blockIdx.x * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    if (x < height && y + j < width) odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// C = A^T * B, A is k x m
template <int BS>
__global__ void matmul_tn(const double *A, const double *B, double *C, int m, int n, int k) {
  __shared__ double As[BS][BS], Bs[BS][BS];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row0 = blockIdx.y * BS, col0 = blockIdx.x * BS;
  double c = 0;
  for (int p = 0; p < k; p += BS) {
    As[ty][tx] = A[(p + ty) * m + row0 + tx];
    Bs[ty][tx] = B[(p + ty) * n + col0 + tx];
    __syncthreads();
    for (int q = 0; q < BS; q++) c += As[q][ty] * Bs[q][tx];
    __syncthreads();
  }
  C[(row0 + ty) * n + col0 + tx] = c;
}

// one 16x16 product per block
__global__ void batched_gemm16(const float *a, const float *b, float *c) {
  extern __shared__ float smem[];
  float *sa = smem;
  float *sb = smem + 16 * 16;
  const size_t base = (size_t)blockIdx.x * 256;
  const int t = threadIdx.y * 16 + threadIdx.x;
  sa[t] = a[base + t];
  sb[t] = b[base + t];
  __syncthreads();
  float v = 0.f;
  for (int k = 0; k < 16; ++k) v += sa[threadIdx.y * 16 + k] * sb[k * 16 + threadIdx.x];
  c[base + t] = v;
}

#define DIM_THREAD_BLOCK_X 32
#define DIM_THREAD_BLOCK_Y 8
typedef float DATA_TYPE;
__global__ void Convolution2D_kernel(const DATA_TYPE *A, DATA_TYPE *B, int NI, int NJ) {
  __shared__ DATA_TYPE t[DIM_THREAD_BLOCK_Y + 2][DIM_THREAD_BLOCK_X + 2];
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  DATA_TYPE c11 = +0.2f, c21 = +0.5f, c31 = -0.8f;
  DATA_TYPE c12 = -0.3f, c22 = +0.6f, c32 = -0.9f;
  DATA_TYPE c13 = +0.4f, c23 = +0.7f, c33 = +0.10f;
  for (int yy = threadIdx.y; yy < DIM_THREAD_BLOCK_Y + 2; yy += DIM_THREAD_BLOCK_Y)
    for (int xx = threadIdx.x; xx < DIM_THREAD_BLOCK_X + 2; xx += DIM_THREAD_BLOCK_X) {
      int gy = blockIdx.y * DIM_THREAD_BLOCK_Y + yy - 1;
      int gx = blockIdx.x * DIM_THREAD_BLOCK_X + xx - 1;
      t[yy][xx] = (gy >= 0 && gy < NI && gx >= 0 && gx < NJ) ? A[gy * NJ + gx] : 0;
    }
  __syncthreads();
  if ((i < NI - 1) && (j < NJ - 1) && (i > 0) && (j > 0)) {
    B[i * NJ + j] = c11 * t[ly - 1][lx - 1] + c21 * t[ly - 1][lx] + c31 * t[ly - 1][lx + 1] +
                    c12 * t[ly][lx - 1] + c22 * t[ly][lx] + c32 * t[ly][lx + 1] +
                    c13 * t[ly + 1][lx - 1] + c23 * t[ly + 1][lx] + c33 * t[ly + 1][lx + 1];
  }
}

#define INV_SQRT_2 0.70710678118654752440f
__global__ void dwtHaar1D(const float *id, float *od, float *approx_final, unsigned int dlevels, unsigned int slength_half) {
  __shared__ float shared[512];
  const int tid = threadIdx.x;
  const int bid = blockIdx.x;
  const int base = bid * 1024;
  float d0 = id[base + 2 * tid], d1 = id[base + 2 * tid + 1];
  od[(bid * 512) + tid + slength_half] = (d0 - d1) * INV_SQRT_2;
  shared[tid] = (d0 + d1) * INV_SQRT_2;
  __syncthreads();
  int half = 256;
  unsigned int offset = slength_half / 2;
  for (unsigned int i = 1; i < dlevels; ++i) {
    float a0 = 0, a1 = 0;
    if (tid < half) { a0 = shared[2 * tid]; a1 = shared[2 * tid + 1]; }
    __syncthreads();
    if (tid < half) {
      od[bid * half + tid + offset] = (a0 - a1) * INV_SQRT_2;
      shared[tid] = (a0 + a1) * INV_SQRT_2;
    }
    __syncthreads();
    half >>= 1;
    offset >>= 1;
  }
  if (tid == 0) approx_final[bid] = shared[0];
}

int main() {
  {
    const int W = 4096, H = 3072;
    size_t n = (size_t)W * H;
    float hk[KERNEL_LENGTH];
    for (int i = 0; i < KERNEL_LENGTH; ++i) hk[i] = (float)(i % 5) / 16.f;
    cudaMemcpyToSymbol(c_Kernel, hk, sizeof(hk));
    float *s = mk<float>(n), *t = mk<float>(n), *d = mk<float>(n);
    dim3 rb(W / (ROWS_RESULT_STEPS * ROWS_BLOCKDIM_X), H / ROWS_BLOCKDIM_Y), rt(ROWS_BLOCKDIM_X, ROWS_BLOCKDIM_Y);
    convolutionRows<<<rb, rt>>>(t, s, W, H, W);
    show("convolutionRows", t, n * 4);
    dim3 cb(W / COLUMNS_BLOCKDIM_X, H / (COLUMNS_RESULT_STEPS * COLUMNS_BLOCKDIM_Y)), ct(COLUMNS_BLOCKDIM_X, COLUMNS_BLOCKDIM_Y);
    convolutionColumns<<<cb, ct>>>(d, t, W, H, W);
    show("convolutionColumns", d, n * 4);
    dim3 tg((W + TILE_DIM - 1) / TILE_DIM, (3000 + TILE_DIM - 1) / TILE_DIM), tb(TILE_DIM, BLOCK_ROWS);
    transposeNoBankConflicts<<<tg, tb>>>(d, s, W, 3000);
    show("transposeNoBankConflicts", d, (size_t)W * 3000 * 4);
    const int NI = 3000, NJ = 4000;
    dim3 vb(DIM_THREAD_BLOCK_X, DIM_THREAD_BLOCK_Y), vg((NJ + 31) / 32, (NI + 7) / 8);
    Convolution2D_kernel<<<vg, vb>>>(s, t, NI, NJ);
    show("Convolution2D_kernel", t, (size_t)NI * NJ * 4);
  }
  {
    const int m = 1024, n = 1024, k = 1024;
    double *A = mk<double>(m * k), *B = mk<double>(k * n), *C = mk<double>(m * n);
    dim3 b(16, 16), g(n / 16, m / 16);
    matmul_tn<16><<<g, b>>>(A, B, C, m, n, k);
    show("matmul_tn", C, sizeof(double) * m * n);
  }
  {
    const int batch = 16384;
    float *a = mk<float>(batch * 256), *b = mk<float>(batch * 256), *c = mk<float>(batch * 256);
    batched_gemm16<<<batch, dim3(16, 16), 2 * 256 * sizeof(float)>>>(a, b, c);
    show("batched_gemm16", c, (size_t)batch * 1024);
  }
  {
    const unsigned n = 1 << 23, blocks = n / 1024;
    float *x = mk<float>(n), *y = mk<float>(n), *ap = mk<float>(blocks);
    dwtHaar1D<<<blocks, 512>>>(x, y, ap, 10, n / 2);
    show("dwtHaar1D", y, (size_t)n * 4);
    show("dwtHaar1D.approx", ap, (size_t)blocks * 4);
  }
  return 0;
}
