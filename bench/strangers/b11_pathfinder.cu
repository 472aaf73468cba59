// Cheapest way through a grid, several rows a launch (the pyramid of Rodinia's pathfinder).
#include "bench.h"

#define BLOCK_SIZE 256
#define HALO 1
#define STEPS 4
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))

__global__ void dynprocKernel(const int *gpuWall, const int *gpuSrc, int *gpuResults, int cols, int startStep) {
  __shared__ int prev[BLOCK_SIZE];
  __shared__ int result[BLOCK_SIZE];
  const int tx = threadIdx.x;
  const int small_block_cols = BLOCK_SIZE - STEPS * HALO * 2;
  const int blkX = small_block_cols * blockIdx.x - STEPS * HALO;
  const int xidx = blkX + tx;
  prev[tx] = IN_RANGE(xidx, 0, cols - 1) ? gpuSrc[xidx] : 1 << 29;
  __syncthreads();
  for (int i = 0; i < STEPS; i++) {
    int r = 1 << 29;
    if (IN_RANGE(tx, 1, BLOCK_SIZE - 2) && IN_RANGE(xidx, 0, cols - 1)) {
      int left = prev[tx - 1];
      int up = prev[tx];
      int right = prev[tx + 1];
      int shortest = MIN(left, up);
      shortest = MIN(shortest, right);
      r = shortest + gpuWall[cols * (startStep + i) + xidx];
    }
    result[tx] = r;
    __syncthreads();
    prev[tx] = result[tx];
    __syncthreads();
  }
  if (IN_RANGE(tx, STEPS, BLOCK_SIZE - 1 - STEPS) && xidx < cols)
    gpuResults[xidx] = prev[tx];
}

int main() {
  const int cols = 10000000;
  int *wall = toDevice(randomInts<int>((size_t)cols * STEPS, 141, 10));
  int *src = toDevice(randomInts<int>(cols, 142, 10)), *dst = deviceAlloc<int>(cols);
  const int inner = BLOCK_SIZE - 2 * STEPS * HALO;
  dim3 dimBlock(BLOCK_SIZE);
  dim3 dimGrid((cols + inner - 1) / inner);
  printTime("dynprocKernel", timeMin([&] { dynprocKernel<<<dimGrid, dimBlock>>>(wall, src, dst, cols, 0); }));
  printHash("dynprocKernel", dst, cols);
}
