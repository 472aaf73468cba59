// Sobel magnitude of a batch of 8-bit HD frames, edges clamped.
#include "bench.h"

typedef unsigned char uchar;
constexpr int BW = 32;
constexpr int BH = 8;

__device__ __forceinline__ int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }

__global__ void sobelFrames(const uchar *__restrict__ src, uchar *__restrict__ dst, int width, int height) {
  __shared__ uchar s[BH + 2][BW + 2];
  const size_t frame = (size_t)blockIdx.z * width * height;
  const int x0 = blockIdx.x * BW - 1;
  const int y0 = blockIdx.y * BH - 1;
  for (int y = threadIdx.y; y < BH + 2; y += BH)
    for (int x = threadIdx.x; x < BW + 2; x += BW) {
      int gx = clampi(x0 + x, 0, width - 1);
      int gy = clampi(y0 + y, 0, height - 1);
      s[y][x] = src[frame + (size_t)gy * width + gx];
    }
  __syncthreads();
  const int x = blockIdx.x * BW + threadIdx.x;
  const int y = blockIdx.y * BH + threadIdx.y;
  if (x >= width || y >= height)
    return;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int gx = -s[ty - 1][tx - 1] + s[ty - 1][tx + 1] - 2 * s[ty][tx - 1] + 2 * s[ty][tx + 1] - s[ty + 1][tx - 1] +
           s[ty + 1][tx + 1];
  int gy = -s[ty - 1][tx - 1] - 2 * s[ty - 1][tx] - s[ty - 1][tx + 1] + s[ty + 1][tx - 1] + 2 * s[ty + 1][tx] +
           s[ty + 1][tx + 1];
  int m = abs(gx) + abs(gy);
  dst[frame + (size_t)y * width + x] = (uchar)(m > 255 ? 255 : m);
}

int main() {
  const int width = 1920, height = 1080, frames = 16;
  const size_t n = (size_t)width * height * frames;
  uchar *src = toDevice(randomInts<uchar>(n, 7, 256));
  uchar *dst = deviceAlloc<uchar>(n);
  dim3 threads(BW, BH, 1);
  dim3 blocks((width + BW - 1) / BW, (height + BH - 1) / BH, frames);
  printTime("sobelFrames", timeMin([&] { sobelFrames<<<blocks, threads>>>(src, dst, width, height); }));
  printHash("sobelFrames", dst, n);
}
