// Transposes with a 32x32 tile, matrices of odd sizes.
#include "bench.h"

#define TILE_DIM 32
#define BLOCK_ROWS 8

__global__ void transposePadded(float *odata, const float *idata, int width, int height) {
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

template <typename T> __global__ void transposeSimple(const T *in, T *out, unsigned rows, unsigned cols) {
  __shared__ T block[16][16];
  unsigned c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (c < cols && r < rows)
    block[threadIdx.y][threadIdx.x] = in[(size_t)r * cols + c];
  __syncthreads();
  c = blockIdx.y * 16 + threadIdx.x;
  r = blockIdx.x * 16 + threadIdx.y;
  if (c < rows && r < cols)
    out[(size_t)r * rows + c] = block[threadIdx.x][threadIdx.y];
}

int main() {
  const int w = 5003, h = 4001;
  const size_t n = (size_t)w * h;
  float *in = toDevice(randomFloats(n, 271)), *out = deviceAlloc<float>(n);
  dim3 grid((w + TILE_DIM - 1) / TILE_DIM, (h + TILE_DIM - 1) / TILE_DIM), block(TILE_DIM, BLOCK_ROWS);
  printTime("transposePadded", timeMin([&] { transposePadded<<<grid, block>>>(out, in, w, h); }));
  printHash("transposePadded", out, n);
  const size_t m = (size_t)3333 * 2777;
  double *din = (double *)toDevice(randomFloats(2 * m, 272)), *dout = deviceAlloc<double>(m);
  dim3 g16((2777 + 15) / 16, (3333 + 15) / 16), b16(16, 16);
  printTime("transposeSimple", timeMin([&] { transposeSimple<double><<<g16, b16>>>(din, dout, 3333, 2777); }));
  printHash("transposeSimple", dout, m);
}
