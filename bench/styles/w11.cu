// separable filters for an image library
#include "h.h"
#include <cstdint>

typedef unsigned char uchar;

#define ROW_BX 64
#define ROW_BY 4
#define MAX_R 16

__device__ __forceinline__ int reflect101(int p, int len) {
  if (p < 0) p = -p;
  if (p >= len) p = 2 * len - 2 - p;
  return p;
}

__global__ void gaussRowsReflect(const float *src, size_t srcStep, float *dst, size_t dstStep, int width, int height,
                                 const float *coef, int radius) {
  __shared__ float line[ROW_BY][ROW_BX + 2 * MAX_R];
  const int x = blockIdx.x * ROW_BX + threadIdx.x;
  const int y = blockIdx.y * ROW_BY + threadIdx.y;
  const int yy = min(y, height - 1);
  const float *row = (const float *)((const char *)src + yy * srcStep);
  for (int i = threadIdx.x; i < ROW_BX + 2 * radius; i += ROW_BX) {
    int gx = blockIdx.x * ROW_BX + i - radius;
    gx = min(gx, width - 1 + radius);
    line[threadIdx.y][i] = row[reflect101(gx, width)];
  }
  __syncthreads();
  if (x >= width || y >= height) return;
  float sum = 0.f;
  for (int k = -radius; k <= radius; ++k) sum += coef[k + radius] * line[threadIdx.y][threadIdx.x + radius + k];
  *((float *)((char *)dst + y * dstStep) + x) = sum;
}

template <int KSIZE>
__global__ void gaussColsClamp(const float *src, float *dst, int width, int height, int pitch, const float *__restrict__ coef) {
  enum { R = KSIZE / 2, BX = 32, BY = 16 };
  __shared__ float tile[BY + 2 * R][BX];
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y0 = blockIdx.y * BY;
  const int xc = min(x, width - 1);
  for (int j = threadIdx.y; j < BY + 2 * R; j += BY) {
    int gy = min(max(y0 + j - R, 0), height - 1);
    tile[j][threadIdx.x] = src[gy * pitch + xc];
  }
  __syncthreads();
  const int y = y0 + threadIdx.y;
  if (x < width && y < height) {
    float v = 0;
#pragma unroll
    for (int k = 0; k < KSIZE; ++k) v += coef[k] * tile[threadIdx.y + k][threadIdx.x];
    dst[y * pitch + x] = v;
  }
}

__global__ void sobelU8(const uchar *img, short *gx, short *gy, int w, int h, int step) {
  __shared__ uchar s[18][18];
  const int ox = blockIdx.x * 16, oy = blockIdx.y * 16;
  for (int t = threadIdx.y * 16 + threadIdx.x; t < 18 * 18; t += 256) {
    int ly = t / 18, lx = t % 18;
    int px = ox + lx - 1, py = oy + ly - 1;
    s[ly][lx] = (px >= 0 && px < w && py >= 0 && py < h) ? img[py * step + px] : 0;
  }
  __syncthreads();
  int x = ox + threadIdx.x, y = oy + threadIdx.y;
  if (x >= w || y >= h) return;
  const int i = threadIdx.x + 1, j = threadIdx.y + 1;
  int dx = (s[j - 1][i + 1] - s[j - 1][i - 1]) + 2 * (s[j][i + 1] - s[j][i - 1]) + (s[j + 1][i + 1] - s[j + 1][i - 1]);
  int dy = (s[j + 1][i - 1] - s[j - 1][i - 1]) + 2 * (s[j + 1][i] - s[j - 1][i]) + (s[j + 1][i + 1] - s[j - 1][i + 1]);
  gx[y * w + x] = (short)dx;
  gy[y * w + x] = (short)dy;
}

static void crc(const char *n, const void *d, size_t by) {
  uchar *p = (uchar *)malloc(by);
  cudaMemcpy(p, d, by, cudaMemcpyDeviceToHost);
  uint64_t h = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < by; ++i) h = (h ^ p[i]) * 0x100000001b3ull;
  printf("%s -> %016lx\n", n, h);
  free(p);
}

int main() {
  const int w = 1920, h = 1080;
  const int pitch = 1984;
  float *a = mk<float>(pitch * h), *b, *c, *kf = mk<float>(33);
  cudaMalloc(&b, pitch * h * 4);
  cudaMalloc(&c, pitch * h * 4);
  cudaMemset(b, 0, pitch * h * 4);
  cudaMemset(c, 0, pitch * h * 4);
  gaussRowsReflect<<<dim3((w + ROW_BX - 1) / ROW_BX, (h + ROW_BY - 1) / ROW_BY), dim3(ROW_BX, ROW_BY)>>>(
      a, pitch * 4, b, pitch * 4, w, h, kf, 7);
  gaussColsClamp<9><<<dim3((w + 31) / 32, (h + 15) / 16), dim3(32, 16)>>>(a, c, w, h, pitch, kf);
  const int uw = 4000, uh = 3000;
  uchar *im = mk<uchar>(uw * uh);
  short *gx, *gy;
  cudaMalloc(&gx, uw * uh * 2);
  cudaMalloc(&gy, uw * uh * 2);
  sobelU8<<<dim3((uw + 15) / 16, (uh + 15) / 16), dim3(16, 16)>>>(im, gx, gy, uw, uh, uw);
  cudaDeviceSynchronize();
  crc("rows", b, pitch * h * 4);
  crc("cols", c, pitch * h * 4);
  crc("gx", gx, uw * uh * 2);
  crc("gy", gy, uw * uh * 2);
}
