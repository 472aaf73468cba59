// Roberts cross on an 8-bit picture; signed 16-bit result, rows of width-1.
#include "validation.cuh"

typedef unsigned char uchar;

#define BLOCK_W 32
#define BLOCK_H 16

__global__ void robertsKernel(const uchar *__restrict__ src,
                              short *__restrict__ dst, int width, int height,
                              int srcPitch, int dstPitch) {
  __shared__ uchar smem[BLOCK_H + 1][BLOCK_W + 1];

  int tx = threadIdx.x;
  int ty = threadIdx.y;
  int x = blockIdx.x * BLOCK_W + tx;
  int y = blockIdx.y * BLOCK_H + ty;

  // clamp to the border so that every thread has something to load
  int xc = min(x, width - 1);
  int yc = min(y, height - 1);
  int xn = min(x + 1, width - 1);
  int yn = min(y + 1, height - 1);

  smem[ty][tx] = src[yc * srcPitch + xc];
  if (tx == BLOCK_W - 1)
    smem[ty][tx + 1] = src[yc * srcPitch + xn];
  if (ty == BLOCK_H - 1)
    smem[ty + 1][tx] = src[yn * srcPitch + xc];
  if (tx == BLOCK_W - 1 && ty == BLOCK_H - 1)
    smem[ty + 1][tx + 1] = src[yn * srcPitch + xn];
  __syncthreads();

  if (x >= width - 1 || y >= height - 1)
    return;

  int g1 = (int)smem[ty][tx] - (int)smem[ty + 1][tx + 1];
  int g2 = (int)smem[ty][tx + 1] - (int)smem[ty + 1][tx];
  dst[y * dstPitch + x] = (short)(2 * g1 + g2);
}

// Forward difference along a row only: every row of the source is kept.
__global__ void gradX(const uchar *src, short *dst, int w, int h) {
  __shared__ int line[4][129];
  int col = threadIdx.x + blockIdx.x * 128;
  int row = threadIdx.y + blockIdx.y * 4;
  if (row < h) {
    if (col < w)
      line[threadIdx.y][threadIdx.x] = src[row * w + col];
    if (threadIdx.x == 0 && col + 128 < w)
      line[threadIdx.y][128] = src[row * w + col + 128];
  }
  __syncthreads();
  if (row < h && col < w - 1)
    dst[row * (w - 1) + col] =
        line[threadIdx.y][threadIdx.x + 1] - line[threadIdx.y][threadIdx.x];
}

void roberts(const uchar *src, short *dst, int w, int h) {
  dim3 block(BLOCK_W, BLOCK_H);
  dim3 grid((w + BLOCK_W - 1) / BLOCK_W, (h + BLOCK_H - 1) / BLOCK_H);
  robertsKernel<<<grid, block>>>(src, dst, w, h, w, w - 1);
}
void gradient(const uchar *src, short *dst, int w, int h) {
  gradX<<<dim3((w + 127) / 128, (h + 3) / 4), dim3(128, 4)>>>(src, dst, w, h);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e :
       extents({{7680, 4320, 1}, {6001, 4001, 1}, {641, 479, 1}}, {77, 21, 1})) {
    size_t n = (size_t)e.x * e.y, m = (size_t)(e.x - 1) * e.y;
    uchar *in = filled<uchar>(n, 301, 0, 256);
    short *a = zeros<short>(m), *b = zeros<short>(m);
    measure("robertsKernel", text(e), [&] { roberts(in, a, e.x, e.y); },
            {result(a, m)});
    measure("gradX", text(e), [&] { gradient(in, b, e.x, e.y); },
            {result(b, m)});
    release(in, a, b);
  }
}
