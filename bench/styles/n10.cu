// data movement and histograms
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>
using std::vector;
#define CHECK_CUDA(func)                                                       \
  {                                                                            \
    cudaError_t status = (func);                                               \
    if (status != cudaSuccess) {                                               \
      printf("CUDA API failed at line %d with error: %s (%d)\n", __LINE__, cudaGetErrorString(status), status); \
      return EXIT_FAILURE;                                                     \
    }                                                                          \
  }

// 256 bins, one private copy per block, atomics in shared
__global__ void histogram256_smem(const uint32_t *data, unsigned *hist, int nwords) {
  __shared__ unsigned temp[256];
  temp[threadIdx.x] = 0;
  __syncthreads();
  int stride = blockDim.x * gridDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < nwords; i += stride) {
    uint32_t w = data[i];
    atomicAdd(&temp[w & 255], 1u);
    atomicAdd(&temp[(w >> 8) & 255], 1u);
    atomicAdd(&temp[(w >> 16) & 255], 1u);
    atomicAdd(&temp[w >> 24], 1u);
  }
  __syncthreads();
  atomicAdd(&hist[threadIdx.x], temp[threadIdx.x]);
}

#define NB 32
#define NT 64
// transposes: 32x32 tile with 8 rows of threads and padding, diagonal block order
#define TILE_DIM 32
#define BLOCK_ROWS 8
__global__ void transposeDiagonal(float *odata, const float *idata, int width, int height) {
  __shared__ float tile[TILE_DIM][TILE_DIM + 1];
  int blockIdx_x, blockIdx_y;
  if (width == height) {
    blockIdx_y = blockIdx.x;
    blockIdx_x = (blockIdx.x + blockIdx.y) % gridDim.x;
  } else {
    int bid = blockIdx.x + gridDim.x * blockIdx.y;
    blockIdx_y = bid % gridDim.y;
    blockIdx_x = ((bid / gridDim.y) + blockIdx_y) % gridDim.x;
  }
  int xIndex = blockIdx_x * TILE_DIM + threadIdx.x;
  int yIndex = blockIdx_y * TILE_DIM + threadIdx.y;
  int index_in = xIndex + yIndex * width;
  xIndex = blockIdx_y * TILE_DIM + threadIdx.x;
  yIndex = blockIdx_x * TILE_DIM + threadIdx.y;
  int index_out = xIndex + yIndex * height;
  for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) tile[threadIdx.y + i][threadIdx.x] = idata[index_in + i * width];
  __syncthreads();
  for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS) odata[index_out + i * height] = tile[threadIdx.x][threadIdx.y + i];
}

// 16x16 double, odd sizes
__global__ void transpose16_d(const double *__restrict__ A, double *__restrict__ AT, int nrow, int ncol) {
  __shared__ double block[16][17];
  unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < ncol && y < nrow) block[threadIdx.y][threadIdx.x] = A[(size_t)y * ncol + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  if (x < nrow && y < ncol) AT[(size_t)y * nrow + x] = block[threadIdx.x][threadIdx.y];
}

// NHWC -> NCHW permute for half the channels at a time: (pixels x C) transposed, bytes
__global__ void nhwc2nchw_u8(const uint8_t *in, uint8_t *out, int HW, int C) {
  __shared__ uint8_t s[32][33];
  int n = blockIdx.z;
  int c = blockIdx.x * 32 + threadIdx.x;
  for (int r = threadIdx.y; r < 32; r += blockDim.y) {
    int p = blockIdx.y * 32 + r;
    if (p < HW && c < C) s[r][threadIdx.x] = in[((size_t)n * HW + p) * C + c];
  }
  __syncthreads();
  int p = blockIdx.y * 32 + threadIdx.x;
  for (int r = threadIdx.y; r < 32; r += blockDim.y) {
    int cc = blockIdx.x * 32 + r;
    if (p < HW && cc < C) out[((size_t)n * C + cc) * HW + p] = s[threadIdx.x][r];
  }
}

// AoS (float3 xyz packed) to SoA through shared
__global__ void aos2soa(const float *xyz, float *x, float *y, float *z, int n) {
  __shared__ float buf[3 * 128];
  int base = blockIdx.x * 128;
  int m = min(128, n - base) * 3;
  for (int i = threadIdx.x; i < m; i += 128) buf[i] = xyz[(size_t)base * 3 + i];
  __syncthreads();
  if (base + threadIdx.x < n) {
    x[base + threadIdx.x] = buf[3 * threadIdx.x];
    y[base + threadIdx.x] = buf[3 * threadIdx.x + 1];
    z[base + threadIdx.x] = buf[3 * threadIdx.x + 2];
  }
}

int main() {
  const int N = 1 << 24;
  vector<uint32_t> h(N);
  for (int i = 0; i < N; i++) h[i] = (uint32_t)i * 2654435761u ^ (uint32_t)i >> 3;
  uint32_t *d, *e;
  unsigned *hist;
  CHECK_CUDA(cudaMalloc(&d, 4 * N))
  CHECK_CUDA(cudaMalloc(&e, 4 * N))
  CHECK_CUDA(cudaMalloc(&hist, 1 << 20))
  CHECK_CUDA(cudaMemcpy(d, h.data(), 4 * N, cudaMemcpyHostToDevice))
  CHECK_CUDA(cudaMemset(e, 0, 4 * N))
  CHECK_CUDA(cudaMemset(hist, 0, 1 << 20))
  histogram256_smem<<<480, 256>>>(d, hist, N);
  for (int i = 0; i < N; i++) h[i] = i % 1000;  // small denormals as floats, who cares
  float *fa, *fb;
  CHECK_CUDA(cudaMalloc(&fa, 4 * N))
  CHECK_CUDA(cudaMalloc(&fb, 4 * N))
  CHECK_CUDA(cudaMemcpy(fa, h.data(), 4 * N, cudaMemcpyHostToDevice))
  transposeDiagonal<<<dim3(4096 / 32, 2048 / 32), dim3(TILE_DIM, BLOCK_ROWS)>>>(fb, fa, 4096, 2048);
  transpose16_d<<<dim3((2501 + 15) / 16, (1777 + 15) / 16), dim3(16, 16)>>>((double *)fa, (double *)fb, 1777, 2501);
  nhwc2nchw_u8<<<dim3((96 + 31) / 32, (56 * 56 + 31) / 32, 64), dim3(32, 8)>>>((uint8_t *)d, (uint8_t *)e, 56 * 56, 96);
  int np = 5000011;
  aos2soa<<<(np + 127) / 128, 128>>>(fa, fb, fb + np, fb + 2 * np, np);
  CHECK_CUDA(cudaGetLastError())
  CHECK_CUDA(cudaDeviceSynchronize())
  return 0;
}
