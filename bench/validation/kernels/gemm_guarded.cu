// Product of rectangular matrices; tiles beyond the edge are filled with zero.
#include "validation.cuh"

#define TILE_WIDTH 16

__global__ void matmul_edge(const float *A, const float *B, float *C,
                            int numARows, int numACols, int numBCols) {
  __shared__ float ds_A[TILE_WIDTH][TILE_WIDTH];
  __shared__ float ds_B[TILE_WIDTH][TILE_WIDTH];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * blockDim.y + ty, col = blockIdx.x * blockDim.x + tx;
  float p = 0.0;
  for (int m = 0; m < (numACols - 1) / TILE_WIDTH + 1; ++m) {
    if (row < numARows && m * TILE_WIDTH + tx < numACols)
      ds_A[ty][tx] = A[row * numACols + m * TILE_WIDTH + tx];
    else
      ds_A[ty][tx] = 0.0;
    if (m * TILE_WIDTH + ty < numACols && col < numBCols)
      ds_B[ty][tx] = B[(m * TILE_WIDTH + ty) * numBCols + col];
    else
      ds_B[ty][tx] = 0.0;
    __syncthreads();
    for (int k = 0; k < TILE_WIDTH; ++k)
      p += ds_A[ty][k] * ds_B[k][tx];
    __syncthreads();
  }
  if (row < numARows && col < numBCols)
    C[row * numBCols + col] = p;
}

void product(const float *a, const float *b, float *c, int m, int k, int n) {
  dim3 dimGrid((n - 1) / TILE_WIDTH + 1, (m - 1) / TILE_WIDTH + 1, 1);
  dim3 dimBlock(TILE_WIDTH, TILE_WIDTH, 1);
  matmul_edge<<<dimGrid, dimBlock>>>(a, b, c, m, k, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e :
       extents({{1000, 760, 520}, {2000, 1500, 3001}}, {37, 25, 41})) {
    float *a = filled<float>((size_t)e.x * e.y, 64),
          *b = filled<float>((size_t)e.y * e.z, 65),
          *c = zeros<float>((size_t)e.x * e.z);
    measure("matmul_edge", text(e), [&] { product(a, b, c, e.x, e.y, e.z); },
            {result(c, (size_t)e.x * e.z)});
    release(a, b, c);
  }
}
