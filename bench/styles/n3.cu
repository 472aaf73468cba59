// image filters on bytes
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <cuda_runtime.h>
#define checkCudaErrors(v) check((v), #v, __FILE__, __LINE__)
static void check(cudaError_t r, const char *f, const char *file, int line) {
  if (r) { fprintf(stderr, "CUDA error at %s:%d code=%d \"%s\"\n", file, line, (int)r, f); exit(EXIT_FAILURE); }
}
typedef unsigned char uchar;

// --- Sobel magnitude, 16x16 outputs, 18x18 tile ---
#define BW 16
#define BH 16
__global__ void sobelShared(const uchar *src, uchar *dst, int width, int height) {
  __shared__ uchar sm[BH + 2][BW + 2];
  int x = blockIdx.x * BW + threadIdx.x;
  int y = blockIdx.y * BH + threadIdx.y;
  for (int ly = threadIdx.y; ly < BH + 2; ly += BH) {
    int gy = blockIdx.y * BH + ly - 1;
    gy = gy < 0 ? 0 : (gy > height - 1 ? height - 1 : gy);
    for (int lx = threadIdx.x; lx < BW + 2; lx += BW) {
      int gx = blockIdx.x * BW + lx - 1;
      gx = gx < 0 ? 0 : (gx > width - 1 ? width - 1 : gx);
      sm[ly][lx] = src[gy * width + gx];
    }
  }
  __syncthreads();
  if (x < width && y < height) {
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int gx = sm[ty - 1][tx + 1] + 2 * sm[ty][tx + 1] + sm[ty + 1][tx + 1] - sm[ty - 1][tx - 1] - 2 * sm[ty][tx - 1] - sm[ty + 1][tx - 1];
    int gy = sm[ty + 1][tx - 1] + 2 * sm[ty + 1][tx] + sm[ty + 1][tx + 1] - sm[ty - 1][tx - 1] - 2 * sm[ty - 1][tx] - sm[ty - 1][tx + 1];
    int mag = abs(gx) + abs(gy);
    dst[y * width + x] = mag > 255 ? 255 : mag;
  }
}

// --- separable gaussian on bytes: rows ---
#define GR 5
__constant__ float gk[2 * GR + 1];
__global__ void gaussRowsU8(const uchar *in, float *tmp, int w, int h, int pitch) {
  __shared__ float line[4][64 + 2 * GR];
  int y = blockIdx.y * 4 + threadIdx.y;
  int yy = min(y, h - 1);
  int xs = blockIdx.x * 64;
  for (int i = threadIdx.x; i < 64 + 2 * GR; i += 64) {
    int xx = xs + i - GR;
    if (xx < 0) xx = -xx;
    if (xx >= w) xx = 2 * w - 2 - xx;
    if (xx < 0) xx = 0;
    line[threadIdx.y][i] = (float)in[yy * pitch + xx];
  }
  __syncthreads();
  int x = xs + threadIdx.x;
  if (x >= w || y >= h) return;
  float acc = 0;
  for (int k = 0; k <= 2 * GR; k++) acc += gk[k] * line[threadIdx.y][threadIdx.x + k];
  tmp[y * w + x] = acc;
}

// --- separable gaussian: columns, back to bytes ---
__global__ void gaussColsU8(const float *tmp, uchar *out, int w, int h, int pitch) {
  __shared__ float col[16 + 2 * GR][32];
  int x = blockIdx.x * 32 + threadIdx.x;
  int xx = min(x, w - 1);
  int y0 = blockIdx.y * 16;
  for (int j = threadIdx.y; j < 16 + 2 * GR; j += blockDim.y) {
    int yy = min(max(y0 + j - GR, 0), h - 1);
    col[j][threadIdx.x] = tmp[yy * w + xx];
  }
  __syncthreads();
  if (x >= w) return;
  for (int j = threadIdx.y; j < 16 && y0 + j < h; j += blockDim.y) {
    float acc = 0;
    for (int k = 0; k <= 2 * GR; k++) acc += gk[k] * col[j + k][threadIdx.x];
    out[(y0 + j) * pitch + x] = (uchar)(acc + 0.5f);
  }
}

// --- bilateral, RGBA, radius 3, dynamic shared ---
__device__ __forceinline__ float heuclid(uchar4 a, uchar4 b, float inv) {
  float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
  return __expf(-(dx * dx + dy * dy + dz * dz) * inv);
}
__constant__ float cGauss[16];
__global__ void bilateral_rgba(const uchar4 *src, uchar4 *dst, int w, int h, int r, float inv) {
  extern __shared__ uchar4 smem[];
  const int sw = blockDim.x + 2 * r, shh = blockDim.y + 2 * r;
  const int bx = blockIdx.x * blockDim.x - r, by = blockIdx.y * blockDim.y - r;
  for (int j = threadIdx.y; j < shh; j += blockDim.y)
    for (int i = threadIdx.x; i < sw; i += blockDim.x)
      smem[j * sw + i] = src[min(max(by + j, 0), h - 1) * w + min(max(bx + i, 0), w - 1)];
  __syncthreads();
  int x = bx + r + threadIdx.x, y = by + r + threadIdx.y;
  if (x >= w || y >= h) return;
  uchar4 c = smem[(threadIdx.y + r) * sw + threadIdx.x + r];
  float sum = 0.f, t0 = 0.f, t1 = 0.f, t2 = 0.f;
  for (int dy = -r; dy <= r; dy++)
    for (int dx = -r; dx <= r; dx++) {
      uchar4 p = smem[(threadIdx.y + r + dy) * sw + threadIdx.x + r + dx];
      float f = cGauss[dy + r] * cGauss[dx + r] * heuclid(p, c, inv);
      t0 += f * p.x;
      t1 += f * p.y;
      t2 += f * p.z;
      sum += f;
    }
  dst[y * w + x] = make_uchar4((uchar)(t0 / sum), (uchar)(t1 / sum), (uchar)(t2 / sum), 255);
}

// --- dilation with 7x7 box on pitched image 32x8 ---
#define MORPH_R 3
__global__ void dilateBox(const uchar *src, uchar *dst, int w, int h, int step) {
  __shared__ uchar win[8 + 2 * MORPH_R][32 + 2 * MORPH_R + 2];
  int ox = blockIdx.x * 32, oy = blockIdx.y * 8;
  for (int id = threadIdx.y * 32 + threadIdx.x; id < (8 + 2 * MORPH_R) * (32 + 2 * MORPH_R); id += 256) {
    int lx = id % (32 + 2 * MORPH_R), ly = id / (32 + 2 * MORPH_R);
    int gx = ox + lx - MORPH_R, gy = oy + ly - MORPH_R;
    win[ly][lx] = (gx >= 0 && gy >= 0 && gx < w && gy < h) ? src[gy * step + gx] : 0;
  }
  __syncthreads();
  int m = 0;
#pragma unroll
  for (int j = 0; j <= 2 * MORPH_R; ++j)
#pragma unroll
    for (int i = 0; i <= 2 * MORPH_R; ++i) m = max(m, (int)win[threadIdx.y + j][threadIdx.x + i]);
  if (ox + threadIdx.x < w && oy + threadIdx.y < h) dst[(oy + threadIdx.y) * step + ox + threadIdx.x] = (uchar)m;
}

template <class T> static T *image(size_t count) {
  size_t bytes = count * sizeof(T);
  uchar *h = (uchar *)malloc(bytes);
  unsigned s = 12345;
  for (size_t i = 0; i < bytes; i++) { s = s * 1664525u + 1013904223u; h[i] = s >> 24; }
  T *d;
  checkCudaErrors(cudaMalloc(&d, bytes));
  checkCudaErrors(cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main() {
  uchar *a = image<uchar>(512 * 512), *b = image<uchar>(512 * 512);
  sobelShared<<<dim3(32, 32), dim3(BW, BH)>>>(a, b, 512, 512);
  checkCudaErrors(cudaGetLastError());
  float g[2 * GR + 1], s = 0;
  for (int i = 0; i <= 2 * GR; i++) s += g[i] = expf(-(i - GR) * (i - GR) / 8.f);
  for (int i = 0; i <= 2 * GR; i++) g[i] /= s;
  checkCudaErrors(cudaMemcpyToSymbol(gk, g, sizeof g));
  int w = 1920, h = 1080, pitch = 1931;
  uchar *im = image<uchar>(pitch * h), *om = image<uchar>(pitch * h);
  float *tmp;
  checkCudaErrors(cudaMalloc(&tmp, sizeof(float) * w * h));
  gaussRowsU8<<<dim3((w + 63) / 64, (h + 3) / 4), dim3(64, 4)>>>(im, tmp, w, h, pitch);
  gaussColsU8<<<dim3((w + 31) / 32, (h + 15) / 16), dim3(32, 8)>>>(tmp, om, w, h, pitch);
  dilateBox<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(om, im, w, h, pitch);
  checkCudaErrors(cudaGetLastError());
  float cg[16];
  for (int i = 0; i < 16; i++) cg[i] = expf(-(i - 3) * (i - 3) / 9.f);
  checkCudaErrors(cudaMemcpyToSymbol(cGauss, cg, sizeof cg));
  int W = 2500, H = 1667, r = 3;
  uchar4 *ca = image<uchar4>((size_t)W * H), *cb = image<uchar4>((size_t)W * H);
  bilateral_rgba<<<dim3((W + 15) / 16, (H + 15) / 16), dim3(16, 16), (16 + 2 * r) * (16 + 2 * r) * sizeof(uchar4)>>>(ca, cb, W, H, r, 1.f / 5000.f);
  checkCudaErrors(cudaGetLastError());
  checkCudaErrors(cudaDeviceSynchronize());
  return 0;
}
