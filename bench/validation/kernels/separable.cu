// Rows and columns of a separable filter of radius 6, several outputs a thread.
#include "validation.cuh"

#define RADIUS 6
#define TAPS (2 * RADIUS + 1)
__constant__ float weights[TAPS];

#define ROW_BX 32
#define ROW_BY 4
#define PER_ROW 4

__global__ void rows_pass(float *dst, const float *src, int w, int pitch) {
  __shared__ float data[ROW_BY][(PER_ROW + 2) * ROW_BX];
  const int baseX = (blockIdx.x * PER_ROW - 1) * ROW_BX + threadIdx.x;
  const int y = blockIdx.y * ROW_BY + threadIdx.y;
  src += y * pitch + baseX;
  dst += y * pitch + baseX;
#pragma unroll
  for (int i = 0; i < PER_ROW + 2; i++) {
    int x = baseX + i * ROW_BX;
    data[threadIdx.y][threadIdx.x + i * ROW_BX] =
        (x >= 0 && x < w) ? src[i * ROW_BX] : 0.f;
  }
  __syncthreads();
#pragma unroll
  for (int i = 1; i <= PER_ROW; i++) {
    float sum = 0;
#pragma unroll
    for (int j = -RADIUS; j <= RADIUS; j++)
      sum += weights[RADIUS - j] *
             data[threadIdx.y][threadIdx.x + i * ROW_BX + j];
    dst[i * ROW_BX] = sum;
  }
}

#define COL_BX 32
#define COL_BY 8
#define PER_COL 8

__global__ void columns_pass(float *dst, const float *src, int h, int pitch) {
  __shared__ float data[(PER_COL + 2) * COL_BY][COL_BX];
  const int x = blockIdx.x * COL_BX + threadIdx.x;
  const int baseY = (blockIdx.y * PER_COL - 1) * COL_BY + threadIdx.y;
  for (int i = 0; i < PER_COL + 2; i++) {
    int y = baseY + i * COL_BY;
    data[threadIdx.y + i * COL_BY][threadIdx.x] =
        (y >= 0 && y < h) ? src[y * pitch + x] : 0.f;
  }
  __syncthreads();
  for (int i = 1; i <= PER_COL; i++) {
    float sum = 0;
    for (int j = -RADIUS; j <= RADIUS; j++)
      sum += weights[RADIUS - j] *
             data[threadIdx.y + i * COL_BY + j][threadIdx.x];
    dst[(baseY + i * COL_BY) * pitch + x] = sum;
  }
}

void rows(float *dst, const float *src, int w, int h) {
  dim3 blocks(w / (PER_ROW * ROW_BX), h / ROW_BY);
  dim3 threads(ROW_BX, ROW_BY);
  rows_pass<<<blocks, threads>>>(dst, src, w, w);
}
void columns(float *dst, const float *src, int w, int h) {
  dim3 blocks(w / COL_BX, h / (PER_COL * COL_BY));
  dim3 threads(COL_BX, COL_BY);
  columns_pass<<<blocks, threads>>>(dst, src, h, w);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  float k[TAPS];
  for (int i = 0; i < TAPS; ++i)
    k[i] = 0.05f + 0.01f * (i % 5);
  check(cudaMemcpyToSymbol(weights, k, sizeof k));
  for (Extent e : extents({{1920, 1088, 1}, {4096, 4096, 1}}, {256, 64, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *in = filled<float>(n, 51), *out = zeros<float>(n);
    measure("rows_pass", text(e), [&] { rows(out, in, e.x, e.y); },
            {result(out, n)});
    measure("columns_pass", text(e), [&] { columns(out, in, e.x, e.y); },
            {result(out, n)});
    release(in, out);
  }
}
