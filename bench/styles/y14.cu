// data layout kernels: transposes and channel reordering
#include "stdio.h"
#include "stdlib.h"
#include "cuda_runtime.h"

#define TILE_DIM    32
#define BLOCK_ROWS  8

void failOn(cudaError_t e, const char *msg) {
  if (e) { fprintf(stderr, "%s: %s\n", msg, cudaGetErrorString(e)); exit(1); }
}

// no padding; width and height are multiples of the tile
__global__ void transpose_coalesced_sq(float *odata, const float *idata, int width, int height) {
  __shared__ float tile[TILE_DIM][TILE_DIM];
  int xIndex = blockIdx.x * TILE_DIM + threadIdx.x;
  int yIndex = blockIdx.y * TILE_DIM + threadIdx.y;
  int index_in = xIndex + yIndex * width;
  xIndex = blockIdx.y * TILE_DIM + threadIdx.x;
  yIndex = blockIdx.x * TILE_DIM + threadIdx.y;
  int index_out = xIndex + yIndex * height;
  for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) tile[threadIdx.y + i][threadIdx.x] = idata[index_in + i * width];
  __syncthreads();
  for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) odata[index_out + i * height] = tile[threadIdx.x][threadIdx.y + i];
}

// one element per thread, guarded, padded
template <typename T, int B>
__global__ void transpose_padded_rect(const T *__restrict__ in, T *__restrict__ out, int rows, int cols) {
  __shared__ T sm[B][B + 1];
  int c = blockIdx.x * B + threadIdx.x;
  int r = blockIdx.y * B + threadIdx.y;
  if (r < rows && c < cols) sm[threadIdx.y][threadIdx.x] = in[(size_t)r * cols + c];
  __syncthreads();
  int oc = blockIdx.y * B + threadIdx.x;
  int orow = blockIdx.x * B + threadIdx.y;
  if (orow < cols && oc < rows) out[(size_t)orow * rows + oc] = sm[threadIdx.x][threadIdx.y];
}

// interleaved RGB bytes to three planes; 256 pixels = 768 bytes are loaded as 192 words
__global__ void rgb_deinterleave(const unsigned int *rgb, unsigned char *r, unsigned char *g, unsigned char *b, int groups) {
  __shared__ unsigned int words[192];
  int grp = blockIdx.x;
  if (threadIdx.x < 192) words[threadIdx.x] = rgb[grp * 192 + threadIdx.x];
  __syncthreads();
  const unsigned char *px = (const unsigned char *)words;
  int o = grp * 256 + threadIdx.x;
  r[o] = px[3 * threadIdx.x];
  g[o] = px[3 * threadIdx.x + 1];
  b[o] = px[3 * threadIdx.x + 2];
}

// N,C,H*W -> N,H*W,C
__global__ void nchw2nhwc_tile(const float *src, float *dst, int C, int HW) {
  __shared__ float t[32][33];
  const float *s = src + (size_t)blockIdx.z * C * HW;
  float *d = dst + (size_t)blockIdx.z * C * HW;
  int p = blockIdx.x * 32 + threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += blockDim.y) {
    int c = blockIdx.y * 32 + k;
    if (c < C && p < HW) t[k][threadIdx.x] = s[(size_t)c * HW + p];
  }
  __syncthreads();
  int c = blockIdx.y * 32 + threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += blockDim.y) {
    int q = blockIdx.x * 32 + k;
    if (c < C && q < HW) d[(size_t)q * C + c] = t[threadIdx.x][k];
  }
}

int main(int argc, char **argv) {
  int size = argc > 1 ? atoi(argv[1]) : 4096;
  size_t bytes = (size_t)size * size * sizeof(float);
  float *h = (float *)malloc(bytes), *a, *b;
  for (size_t i = 0; i < (size_t)size * size; i++) h[i] = (float)(i & 0xffff);
  failOn(cudaMalloc(&a, bytes), "malloc a");
  failOn(cudaMalloc(&b, bytes), "malloc b");
  failOn(cudaMemcpy(a, h, bytes, cudaMemcpyHostToDevice), "copy");
  transpose_coalesced_sq<<<dim3(size / TILE_DIM, size / TILE_DIM), dim3(TILE_DIM, BLOCK_ROWS)>>>(b, a, size, size);
  failOn(cudaGetLastError(), "transpose 1");
  int rows = 2000, cols = 3001;
  transpose_padded_rect<double, 16><<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>((double *)a, (double *)b, rows, cols);
  failOn(cudaGetLastError(), "transpose 2");
  int groups = 60000;
  unsigned char *planes = (unsigned char *)b;
  rgb_deinterleave<<<groups, 256>>>((unsigned int *)a, planes, planes + groups * 256, planes + 2 * groups * 256, groups);
  failOn(cudaGetLastError(), "rgb");
  int N = 16, C = 80, HW = 110 * 110;
  nchw2nhwc_tile<<<dim3((HW + 31) / 32, (C + 31) / 32, N), dim3(32, 8)>>>(a, b, C, HW);
  failOn(cudaGetLastError(), "nchw");
  failOn(cudaDeviceSynchronize(), "sync");
  cudaFree(a);
  cudaFree(b);
  free(h);
  return 0;
}
