// The update of the trailing matrix in a blocked LU decomposition: one tile of
// the pivot row, one of the pivot column.
#include "validation.cuh"

#define TILE 16

__global__ void lu_inner(float *m, int dim, int offset) {
  __shared__ float row[TILE][TILE];
  __shared__ float col[TILE][TILE];
  int gr = offset + (blockIdx.y + 1) * TILE;
  int gc = offset + (blockIdx.x + 1) * TILE;
  row[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * dim + gc + threadIdx.x];
  col[threadIdx.y][threadIdx.x] = m[(gr + threadIdx.y) * dim + offset + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < TILE; i++)
    sum += col[threadIdx.y][i] * row[i][threadIdx.x];
  m[(gr + threadIdx.y) * dim + gc + threadIdx.x] -= sum;
}

void update(float *m, int dim, int offset) {
  int rest = (dim - offset) / TILE - 1;
  dim3 threads(TILE, TILE);
  dim3 blocks(rest, rest);
  lu_inner<<<blocks, threads>>>(m, dim, offset);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({2048, 8192}, 64)) {
    size_t e = (size_t)n * n;
    float *m = filled<float>(e, 6);
    measure("lu_inner", text(n), [&] { update(m, n, 0); }, {result(m, e)});
    release(m);
  }
}
