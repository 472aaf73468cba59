// A matrix of ints transposed by 32x8 threads, four rows each, and a matrix of
// doubles mirrored left to right by 16x4 threads.
#include "validation.cuh"

const int TILE_DIM = 32;
const int BLOCK_ROWS = 8;

__global__ void transposeNoBankConflicts(int *odata, const int *idata,
                                         int width, int height) {
  __shared__ int tile[TILE_DIM][TILE_DIM + 1];

  int xIndex = blockIdx.x * TILE_DIM + threadIdx.x;
  int yIndex = blockIdx.y * TILE_DIM + threadIdx.y;

  for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS)
    if (xIndex < width && yIndex + i < height)
      tile[threadIdx.y + i][threadIdx.x] = idata[(yIndex + i) * width + xIndex];

  __syncthreads();

  xIndex = blockIdx.y * TILE_DIM + threadIdx.x;
  yIndex = blockIdx.x * TILE_DIM + threadIdx.y;

  for (int i = 0; i < TILE_DIM; i += BLOCK_ROWS)
    if (xIndex < height && yIndex + i < width)
      odata[(yIndex + i) * height + xIndex] = tile[threadIdx.x][threadIdx.y + i];
}

// width and height are multiples of 16
__global__ void fliplr(const double *A, double *B, int lda, int ldb) {
  __shared__ double buf[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  A += (size_t)blockIdx.y * 16 * lda + blockIdx.x * 16;
  B += (size_t)blockIdx.y * 16 * ldb + (gridDim.x - 1 - blockIdx.x) * 16;
#pragma unroll
  for (int r = 0; r < 4; ++r)
    buf[ty + 4 * r][15 - tx] = A[(ty + 4 * r) * lda + tx];
  __syncthreads();
#pragma unroll
  for (int r = 0; r < 4; ++r)
    B[(ty + 4 * r) * ldb + tx] = buf[ty + 4 * r][tx];
}

void transpose(int *out, const int *in, int w, int h) {
  dim3 dimGrid((w + TILE_DIM - 1) / TILE_DIM, (h + TILE_DIM - 1) / TILE_DIM);
  dim3 dimBlock(TILE_DIM, BLOCK_ROWS);
  transposeNoBankConflicts<<<dimGrid, dimBlock>>>(out, in, w, h);
}
void mirror(const double *in, double *out, int w, int h) {
  fliplr<<<dim3(w / 16, h / 16), dim3(16, 4)>>>(in, out, w, w);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e :
       extents({{8192, 6144, 1}, {5003, 3001, 1}, {1024, 512, 1}}, {70, 45, 1})) {
    size_t n = (size_t)e.x * e.y;
    int *in = filled<int>(n, 311, -1e6, 1e6), *out = zeros<int>(n);
    measure("transposeNoBankConflicts", text(e), [&] { transpose(out, in, e.x, e.y); },
            {result(out, n)});
    release(in, out);
  }
  for (Extent e :
       extents({{8192, 4096, 1}, {1040, 720, 1}}, {48, 32, 1})) {
    size_t n = (size_t)e.x * e.y;
    double *in = filled<double>(n, 312), *out = zeros<double>(n);
    measure("fliplr", text(e), [&] { mirror(in, out, e.x, e.y); },
            {result(out, n)});
    release(in, out);
  }
}
