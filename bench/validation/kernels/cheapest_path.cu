// Dynamic programming over the rows of a grid: a block takes some rows at once
// and loses a column at each side with every row.
#include "validation.cuh"

#define BLOCK_SIZE 256
#define STEPS 8
#define IN_RANGE(x, a, b) ((x) >= (a) && (x) <= (b))

__global__ void path_rows(const int *wall, const int *src, int *dst, int cols,
                          int row) {
  __shared__ int prev[BLOCK_SIZE];
  __shared__ int result[BLOCK_SIZE];
  int tx = threadIdx.x;
  int small = BLOCK_SIZE - 2 * STEPS;
  int xidx = small * blockIdx.x - STEPS + tx;
  bool valid = IN_RANGE(xidx, 0, cols - 1);
  int lo = max(0, STEPS - small * (int)blockIdx.x);
  int hi = min(BLOCK_SIZE - 1, cols - 1 - (small * (int)blockIdx.x - STEPS));
  int w = max(tx - 1, lo), e = min(tx + 1, hi);
  if (valid)
    prev[tx] = src[xidx];
  __syncthreads();
  bool computed = false;
  for (int i = 0; i < STEPS; i++) {
    computed = false;
    if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && valid) {
      computed = true;
      int shortest = min(prev[w], min(prev[tx], prev[e]));
      result[tx] = shortest + wall[cols * (row + i) + xidx];
    }
    __syncthreads();
    if (i == STEPS - 1)
      break;
    if (computed)
      prev[tx] = result[tx];
    __syncthreads();
  }
  if (computed)
    dst[xidx] = result[tx];
}

void path(const int *wall, int *a, int *b, int rows, int cols) {
  int blocks = (cols + BLOCK_SIZE - 2 * STEPS - 1) / (BLOCK_SIZE - 2 * STEPS);
  for (int r = 0; r < rows; r += STEPS) {
    path_rows<<<blocks, BLOCK_SIZE>>>(wall, a, b, cols, r);
    int *t = a;
    a = b;
    b = t;
  }
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{100000, 160, 1}, {2000000, 80, 1}}, {1000, 16, 1})) {
    int *wall = filled<int>((size_t)e.x * e.y, 104, 0, 10);
    int *a = filled<int>(e.x, 105, 0, 10), *b = zeros<int>(e.x);
    measure("path_rows", text(e), [&] { path(wall, a, b, e.y, e.x); },
            {result(a, e.x), result(b, e.x)});
    release(wall, a, b);
  }
}
