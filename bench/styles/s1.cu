// 1-D and separable filters
#include <cstdio>
#include <cstdlib>
#include <cassert>
#include <cuda_runtime.h>
inline cudaError_t checkCuda(cudaError_t result) {
  if (result != cudaSuccess) { fprintf(stderr, "CUDA Runtime Error: %s\n", cudaGetErrorString(result)); assert(result == cudaSuccess); }
  return result;
}
typedef unsigned char uchar;
// 1. classic NVIDIA course stencil 1d
#define RADIUS 3
#define BLOCK_SIZE 256
__global__ void stencil_1d(const int *in, int *out) {
  __shared__ int temp[BLOCK_SIZE + 2 * RADIUS];
  int gindex = threadIdx.x + blockIdx.x * blockDim.x;
  int lindex = threadIdx.x + RADIUS;
  temp[lindex] = in[gindex];
  if (threadIdx.x < RADIUS) {
    temp[lindex - RADIUS] = in[gindex - RADIUS];
    temp[lindex + BLOCK_SIZE] = in[gindex + BLOCK_SIZE];
  }
  __syncthreads();
  int result = 0;
  for (int offset = -RADIUS; offset <= RADIUS; offset++) result += temp[lindex + offset];
  out[gindex] = result;
}
// 2. PMPP tiled 1D convolution with halo cells, constant mask
#define MASK_WIDTH 9
#define TILE_SIZE 256
__constant__ float M[MASK_WIDTH];
__global__ void convolution_1D_tiled(const float *N, float *P, int Width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float N_ds[TILE_SIZE + MASK_WIDTH - 1];
  int n = MASK_WIDTH / 2;
  int halo_index_left = (blockIdx.x - 1) * blockDim.x + threadIdx.x;
  if (threadIdx.x >= blockDim.x - n) {
    N_ds[threadIdx.x - (blockDim.x - n)] = (halo_index_left < 0) ? 0 : N[halo_index_left];
  }
  N_ds[n + threadIdx.x] = i < Width ? N[i] : 0;
  int halo_index_right = (blockIdx.x + 1) * blockDim.x + threadIdx.x;
  if (threadIdx.x < n) {
    N_ds[n + blockDim.x + threadIdx.x] = (halo_index_right >= Width) ? 0 : N[halo_index_right];
  }
  __syncthreads();
  float Pvalue = 0;
  for (int j = 0; j < MASK_WIDTH; j++) Pvalue += N_ds[threadIdx.x + j] * M[j];
  if (i < Width) P[i] = Pvalue;
}
// 3. PMPP "simple" 1D conv: reads tile else global (caching halo)
__global__ void convolution_1D_caching(const float *N, float *P, int Width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float N_ds[TILE_SIZE];
  N_ds[threadIdx.x] = i < Width ? N[i] : 0.f;
  __syncthreads();
  int This_tile_start_point = blockIdx.x * blockDim.x;
  int Next_tile_start_point = (blockIdx.x + 1) * blockDim.x;
  int N_start_point = i - (MASK_WIDTH / 2);
  float Pvalue = 0;
  for (int j = 0; j < MASK_WIDTH; j++) {
    int N_index = N_start_point + j;
    if (N_index >= 0 && N_index < Width) {
      if ((N_index >= This_tile_start_point) && (N_index < Next_tile_start_point))
        Pvalue += N_ds[threadIdx.x + j - (MASK_WIDTH / 2)] * M[j];
      else
        Pvalue += N[N_index] * M[j];
    }
  }
  if (i < Width) P[i] = Pvalue;
}
// 4,5. NVIDIA convolutionSeparable rows/columns sample style
#define KERNEL_RADIUS 8
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)
__constant__ float c_Kernel[KERNEL_LENGTH];
#define ROWS_BLOCKDIM_X 16
#define ROWS_BLOCKDIM_Y 4
#define ROWS_RESULT_STEPS 8
#define ROWS_HALO_STEPS 1
__global__ void convolutionRowsKernel(float *d_Dst, float *d_Src, int imageW, int imageH, int pitch) {
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
__global__ void convolutionColumnsKernel(float *d_Dst, float *d_Src, int imageW, int imageH, int pitch) {
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
// 6. NVIDIA blog finite difference derivative_x, periodic wrap copied from shared to shared
const int mx = 64, my = 64, mz = 64;
__constant__ float c_ax, c_bx, c_cx, c_dx;
const int sPencils = 4;
__global__ void derivative_x(float *f, float *df) {
  __shared__ float s_f[sPencils][mx + 8];
  int i = threadIdx.x;
  int j = blockIdx.x * blockDim.y + threadIdx.y;
  int k = blockIdx.y;
  int si = i + 4;
  int sj = threadIdx.y;
  int globalIdx = k * mx * my + j * mx + i;
  s_f[sj][si] = f[globalIdx];
  __syncthreads();
  if (i < 4) {
    s_f[sj][si - 4] = s_f[sj][si + mx - 5];
    s_f[sj][si + mx] = s_f[sj][si + 1];
  }
  __syncthreads();
  df[globalIdx] = (c_ax * (s_f[sj][si + 1] - s_f[sj][si - 1]) + c_bx * (s_f[sj][si + 2] - s_f[sj][si - 2]) +
                   c_cx * (s_f[sj][si + 3] - s_f[sj][si - 3]) + c_dx * (s_f[sj][si + 4] - s_f[sj][si - 4]));
}
// 7. moving average with dynamic shared and run-time radius
__global__ void movingAvg(const float *in, float *out, int n, int r) {
  extern __shared__ float tile[];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = threadIdx.x; i < blockDim.x + 2 * r; i += blockDim.x) {
    int src = blockIdx.x * blockDim.x + i - r;
    src = max(0, min(src, n - 1));
    tile[i] = in[src];
  }
  __syncthreads();
  if (g < n) {
    float s = 0.f;
    for (int k = 0; k <= 2 * r; ++k) s += tile[threadIdx.x + k];
    out[g] = s / (2 * r + 1);
  }
}
// 8. FIR on short samples with dot in int
#define TAPS 16
__constant__ short coef[TAPS];
__global__ void firShort(const short *__restrict__ x, short *__restrict__ y, int n) {
  __shared__ short buf[128 + TAPS];
  int base = blockIdx.x * 128;
  int t = threadIdx.x;
  int idx = base + t - TAPS;
  buf[t] = idx >= 0 ? x[idx] : 0;
  if (t < TAPS) buf[t + 128] = base + 128 + t - TAPS < n ? x[base + 128 + t - TAPS] : 0;
  __syncthreads();
  int acc = 0;
#pragma unroll
  for (int k = 0; k < TAPS; ++k) acc += buf[t + TAPS - k] * coef[k];
  if (base + t < n) y[base + t] = (short)(acc >> 15);
}
template <class T> T *mk(size_t n) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  for (size_t i = 0; i < n; ++i) h[i] = (T)((i * 7919u) % 251);
  checkCuda(cudaMalloc(&d, n * sizeof(T)));
  checkCuda(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 24;
  int *in = mk<int>(n + 2 * RADIUS), *out = mk<int>(n + 2 * RADIUS);
  float *a = mk<float>(n), *b = mk<float>(n);
  short *sx = mk<short>(n), *sy = mk<short>(n);
  float hM[MASK_WIDTH], hK[KERNEL_LENGTH];
  for (int i = 0; i < MASK_WIDTH; i++) hM[i] = 0.1f * i;
  for (int i = 0; i < KERNEL_LENGTH; i++) hK[i] = 0.03f * (i % 5);
  short hc[TAPS];
  for (int i = 0; i < TAPS; i++) hc[i] = 100 * i;
  float ax = 4.f / 5.f, bx = -1.f / 5.f, cx = 4.f / 105.f, dx = -1.f / 280.f;
  checkCuda(cudaMemcpyToSymbol(M, hM, sizeof hM));
  checkCuda(cudaMemcpyToSymbol(c_Kernel, hK, sizeof hK));
  checkCuda(cudaMemcpyToSymbol(coef, hc, sizeof hc));
  cudaMemcpyToSymbol(c_ax, &ax, 4); cudaMemcpyToSymbol(c_bx, &bx, 4); cudaMemcpyToSymbol(c_cx, &cx, 4); cudaMemcpyToSymbol(c_dx, &dx, 4);
  stencil_1d<<<n / BLOCK_SIZE, BLOCK_SIZE>>>(in + RADIUS, out + RADIUS);
  dim3 dimBlock(TILE_SIZE), dimGrid((n - 1) / TILE_SIZE + 1);
  convolution_1D_tiled<<<dimGrid, dimBlock>>>(a, b, n);
  convolution_1D_caching<<<dimGrid, dimBlock>>>(a, b, n);
  int W = 512, H = n / W / 64 * 64;
  if (H) {
    dim3 blocks(W / (ROWS_RESULT_STEPS * ROWS_BLOCKDIM_X), H / ROWS_BLOCKDIM_Y), threads(ROWS_BLOCKDIM_X, ROWS_BLOCKDIM_Y);
    convolutionRowsKernel<<<blocks, threads>>>(b, a, W, H, W);
    dim3 cb(W / COLUMNS_BLOCKDIM_X, H / (COLUMNS_RESULT_STEPS * COLUMNS_BLOCKDIM_Y)), ct(COLUMNS_BLOCKDIM_X, COLUMNS_BLOCKDIM_Y);
    convolutionColumnsKernel<<<cb, ct>>>(b, a, W, H, W);
  }
  float *f3 = mk<float>(mx * my * mz), *df3 = mk<float>(mx * my * mz);
  derivative_x<<<dim3(my / sPencils, mz, 1), dim3(mx, sPencils, 1)>>>(f3, df3);
  int radius = 5;
  movingAvg<<<(n + 255) / 256, 256, (256 + 2 * radius) * sizeof(float)>>>(a, b, n, radius);
  firShort<<<(n + 127) / 128, 128>>>(sx, sy, n);
  checkCuda(cudaGetLastError());
  checkCuda(cudaDeviceSynchronize());
}
