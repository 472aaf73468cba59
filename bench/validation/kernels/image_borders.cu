// Image filters that differ in what lies beyond the border: repeated pixels
// under a mask of run-time radius, a mirror, zeros. Rows are `pitch` apart.
#include "validation.cuh"

#define TILE_W 16
#define MAX_R 4
__constant__ float d_mask[(2 * MAX_R + 1) * (2 * MAX_R + 1)];

__global__ void filterClamp(const float *src, float *dst, int width, int height,
                            int pitch, int radius) {
  __shared__ float tile[TILE_W + 2 * MAX_R][TILE_W + 2 * MAX_R];
  int x0 = (int)blockIdx.x * TILE_W - radius;
  int y0 = (int)blockIdx.y * TILE_W - radius;
  int side = TILE_W + 2 * radius;
  for (int j = threadIdx.y; j < side; j += TILE_W)
    for (int i = threadIdx.x; i < side; i += TILE_W) {
      int gx = min(max(x0 + i, 0), width - 1);
      int gy = min(max(y0 + j, 0), height - 1);
      tile[j][i] = src[(size_t)gy * pitch + gx];
    }
  __syncthreads();
  int x = blockIdx.x * TILE_W + threadIdx.x;
  int y = blockIdx.y * TILE_W + threadIdx.y;
  if (x < width && y < height) {
    float sum = 0;
    const float *m = d_mask;
    for (int j = 0; j <= 2 * radius; ++j)
      for (int i = 0; i <= 2 * radius; ++i)
        sum += *m++ * tile[threadIdx.y + j][threadIdx.x + i];
    dst[(size_t)y * pitch + x] = sum;
  }
}

__device__ inline int reflect101(int p, int len) {
  if (p < 0)
    return -p;
  if (p >= len)
    return 2 * len - 2 - p;
  return p;
}

// 32 x 8 threads; bytes in, bytes out
__global__ void unsharpReflect(const unsigned char *src, unsigned char *dst,
                               int width, int height, int pitch, float amount) {
  __shared__ unsigned char s[10][34];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  int tid = threadIdx.y * 32 + threadIdx.x;
  for (int k = tid; k < 10 * 34; k += 256) {
    int sy = k / 34, sx = k % 34;
    int gx = reflect101((int)blockIdx.x * 32 + sx - 1, width);
    int gy = reflect101((int)blockIdx.y * 8 + sy - 1, height);
    s[sy][sx] = src[(size_t)max(gy, 0) * pitch + max(gx, 0)];
  }
  __syncthreads();
  if (x >= width || y >= height)
    return;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int blur = s[ty - 1][tx - 1] + 2 * s[ty - 1][tx] + s[ty - 1][tx + 1] +
             2 * s[ty][tx - 1] + 4 * s[ty][tx] + 2 * s[ty][tx + 1] +
             s[ty + 1][tx - 1] + 2 * s[ty + 1][tx] + s[ty + 1][tx + 1];
  float v = s[ty][tx] + amount * (s[ty][tx] - blur * 0.0625f);
  dst[(size_t)y * pitch + x] = (unsigned char)fminf(fmaxf(v, 0.f), 255.f);
}

// Laplacian of Gaussian, 5 x 5, zeros outside; the picture lies at (ox, oy) in
// the destination
__global__ void logZero(const short *src, short *dst, int width, int height,
                        int pitch, int dpitch, int ox, int oy) {
  __shared__ short t[16 + 4][16 + 4];
  for (int j = threadIdx.y; j < 20; j += 16)
    for (int i = threadIdx.x; i < 20; i += 16) {
      int gx = (int)blockIdx.x * 16 + i - 2, gy = (int)blockIdx.y * 16 + j - 2;
      bool in = gx >= 0 && gx < width && gy >= 0 && gy < height;
      t[j][i] = in ? src[(size_t)gy * pitch + gx] : (short)0;
    }
  __syncthreads();
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height) {
    int cx = threadIdx.x + 2, cy = threadIdx.y + 2;
    int v = 16 * t[cy][cx] -
            2 * (t[cy][cx - 1] + t[cy][cx + 1] + t[cy - 1][cx] + t[cy + 1][cx]) -
            (t[cy - 1][cx - 1] + t[cy - 1][cx + 1] + t[cy + 1][cx - 1] +
             t[cy + 1][cx + 1]) -
            (t[cy][cx - 2] + t[cy][cx + 2] + t[cy - 2][cx] + t[cy + 2][cx]);
    dst[(size_t)(y + oy) * dpitch + x + ox] = (short)(v >> 2);
  }
}

void filter(const float *s, float *d, int w, int h, int pitch, int radius) {
  dim3 block(TILE_W, TILE_W);
  dim3 grid((w + TILE_W - 1) / TILE_W, (h + TILE_W - 1) / TILE_W);
  filterClamp<<<grid, block>>>(s, d, w, h, pitch, radius);
}
void unsharp(const unsigned char *s, unsigned char *d, int w, int h, int pitch) {
  dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
  unsharpReflect<<<grid, block>>>(s, d, w, h, pitch, 0.8f);
}
void edges(const short *s, short *d, int w, int h, int pitch, int dpitch) {
  logZero<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(
      s, d, w, h, pitch, dpitch, 8, 4);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  float m[(2 * MAX_R + 1) * (2 * MAX_R + 1)];
  for (size_t k = 0; k < sizeof m / sizeof *m; ++k)
    m[k] = 0.03f + 0.001f * (k % 11);
  check(cudaMemcpyToSymbol(d_mask, m, sizeof m));
  for (Extent e : extents({{7680, 4320, 1}, {1920, 1080, 1}, {1023, 1025, 1}},
                          {41, 37, 1})) {
    int pitch = (e.x + 31) / 32 * 32, dpitch = e.x + 16;
    size_t n = (size_t)pitch * e.y, dn = (size_t)dpitch * (e.y + 8);
    float *f = filled<float>(n, 601, 0, 1), *g = zeros<float>(n);
    unsigned char *b = filled<unsigned char>(n, 602, 0, 256),
                  *c = zeros<unsigned char>(n);
    short *s = filled<short>(n, 603, -500, 500), *d = zeros<short>(dn);
    measure("filterClamp", text(e), [&] { filter(f, g, e.x, e.y, pitch, 3); },
            {result(g, n)});
    measure("unsharpReflect", text(e), [&] { unsharp(b, c, e.x, e.y, pitch); },
            {result(c, n)});
    measure("logZero", text(e), [&] { edges(s, d, e.x, e.y, pitch, dpitch); },
            {result(d, dn)});
    release(f, g, b, c, s, d);
  }
}
