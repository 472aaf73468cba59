// Grey dilation (maximum of a square) on an image of odd size.
#include "bench.h"

template <int RADIUS, unsigned W, unsigned H>
__global__ void dilate(const int *src, int *dst, unsigned width, unsigned height) {
  __shared__ int tile[(H + 2 * RADIUS) * (W + 2 * RADIUS)];
  const unsigned pitch = W + 2 * RADIUS;
  const unsigned tid = threadIdx.y * W + threadIdx.x;
  // all threads fill the tile, counted row by row
  for (unsigned i = tid; i < (H + 2 * RADIUS) * pitch; i += W * H) {
    int x = (int)(blockIdx.x * W + i % pitch) - RADIUS;
    int y = (int)(blockIdx.y * H + i / pitch) - RADIUS;
    int v = -2147483647;
    if (x >= 0 && y >= 0 && x < (int)width && y < (int)height)
      v = src[(size_t)y * width + x];
    tile[i] = v;
  }
  __syncthreads();
  unsigned x = blockIdx.x * W + threadIdx.x;
  unsigned y = blockIdx.y * H + threadIdx.y;
  if (x < width && y < height) {
    int m = tile[threadIdx.y * pitch + threadIdx.x];
    for (int j = 0; j <= 2 * RADIUS; ++j)
      for (int i = 0; i <= 2 * RADIUS; ++i)
        m = max(m, tile[(threadIdx.y + j) * pitch + threadIdx.x + i]);
    dst[(size_t)y * width + x] = m;
  }
}

int main() {
  const unsigned width = 4001, height = 3001;
  const size_t n = (size_t)width * height;
  int *src = toDevice(randomInts<int>(n, 31, 65536));
  int *dst = deviceAlloc<int>(n);
  dim3 block(32, 8);
  dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
  printTime("dilate", timeMin([&] { dilate<2, 32, 8><<<grid, block>>>(src, dst, width, height); }));
  printHash("dilate", dst, n);
}
