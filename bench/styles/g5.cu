// image filters
#include "shown.h"
typedef unsigned char uchar;
#define DIVUP(a, b) (((a) + (b)-1) / (b))

// 3x3 median, 16x16 tile with one-pixel apron loaded by edge threads
#define TW 16
__global__ void median3x3(const uchar *src, uchar *dst, int w, int h) {
  __shared__ uchar s[TW + 2][TW + 2];
  const int x = blockIdx.x * TW + threadIdx.x, y = blockIdx.y * TW + threadIdx.y;
  const int tx = threadIdx.x, ty = threadIdx.y;
  s[ty][tx] = 0;
  if (tx < 2) s[ty][tx + TW] = 0;
  if (ty < 2) {
    s[ty + TW][tx] = 0;
    if (tx < 2) s[ty + TW][tx + TW] = 0;
  }
  __syncthreads();
  const bool in = x < w && y < h;
  if (in) {
    s[ty + 1][tx + 1] = src[y * w + x];
    if (tx == 0 && x > 0) s[ty + 1][0] = src[y * w + x - 1];
    if (tx == TW - 1 && x + 1 < w) s[ty + 1][TW + 1] = src[y * w + x + 1];
    if (ty == 0 && y > 0) {
      s[0][tx + 1] = src[(y - 1) * w + x];
      if (tx == 0 && x > 0) s[0][0] = src[(y - 1) * w + x - 1];
      if (tx == TW - 1 && x + 1 < w) s[0][TW + 1] = src[(y - 1) * w + x + 1];
    }
    if (ty == TW - 1 && y + 1 < h) {
      s[TW + 1][tx + 1] = src[(y + 1) * w + x];
      if (tx == 0 && x > 0) s[TW + 1][0] = src[(y + 1) * w + x - 1];
      if (tx == TW - 1 && x + 1 < w) s[TW + 1][TW + 1] = src[(y + 1) * w + x + 1];
    }
  }
  __syncthreads();
  if (!in) return;
  uchar v[9];
  for (int k = 0; k < 9; ++k) v[k] = s[ty + k / 3][tx + k % 3];
  for (int i = 0; i < 5; ++i) {
    int m = i;
    for (int j = i + 1; j < 9; ++j)
      if (v[j] < v[m]) m = j;
    uchar t = v[i];
    v[i] = v[m];
    v[m] = t;
  }
  dst[y * w + x] = v[4];
}

#define BR 5
#define BTX 32
#define BTY 8
__device__ __forceinline__ int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }
__global__ void bilateral(const float *__restrict__ in, float *__restrict__ out, int w, int h, float inv_s2, float inv_r2) {
  __shared__ float tile[BTY + 2 * BR][BTX + 2 * BR];
  int x0 = blockIdx.x * BTX - BR, y0 = blockIdx.y * BTY - BR;
  for (int yy = threadIdx.y; yy < BTY + 2 * BR; yy += BTY)
    for (int xx = threadIdx.x; xx < BTX + 2 * BR; xx += BTX)
      tile[yy][xx] = __ldg(&in[clampi(y0 + yy, 0, h - 1) * w + clampi(x0 + xx, 0, w - 1)]);
  __syncthreads();
  int x = blockIdx.x * BTX + threadIdx.x, y = blockIdx.y * BTY + threadIdx.y;
  if (x >= w || y >= h) return;
  float c = tile[threadIdx.y + BR][threadIdx.x + BR];
  float num = 0, den = 0;
  for (int dy = -BR; dy <= BR; ++dy)
    for (int dx = -BR; dx <= BR; ++dx) {
      float v = tile[threadIdx.y + BR + dy][threadIdx.x + BR + dx];
      float d = v - c;
      float wgt = __expf(-(dx * dx + dy * dy) * inv_s2 - d * d * inv_r2);
      num += wgt * v;
      den += wgt;
    }
  out[y * w + x] = num / den;
}

// sliding box sum: one thread per row keeps a ring of the last K pixels in a private array
#define KBOX 9
__global__ void boxblur_columns(const float *img, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= w) return;
  int y0 = blockIdx.y * 64, y1 = min(y0 + 64, h);
  float ring[KBOX];
  float sum = 0.f;
  for (int k = 0; k < KBOX; ++k) {
    int y = clampi(y0 - KBOX / 2 - 1 + k, 0, h - 1);
    ring[k] = img[(size_t)y * w + x];
    sum += ring[k];
  }
  int pos = 0;
  for (int y = y0; y < y1; ++y) {
    float v = img[(size_t)clampi(y + KBOX / 2, 0, h - 1) * w + x];
    sum += v - ring[pos];
    ring[pos] = v;
    pos = pos + 1 == KBOX ? 0 : pos + 1;
    out[(size_t)y * w + x] = sum * (1.0f / KBOX);
  }
}

// grayscale dilation along rows, window 2R+1
template <int B, int R>
__global__ void dilate_rows(const uchar *src, uchar *dst, int w) {
  __shared__ uchar line[B + 2 * R];
  const uchar *row = src + (size_t)blockIdx.y * w;
  int x = blockIdx.x * B + threadIdx.x;
  for (int i = threadIdx.x; i < B + 2 * R; i += B) {
    int gx = blockIdx.x * B + i - R;
    line[i] = (gx >= 0 && gx < w) ? row[gx] : (uchar)0;
  }
  __syncthreads();
  if (x < w) {
    uchar m = line[threadIdx.x];
#pragma unroll
    for (int k = 1; k <= 2 * R; ++k) m = max(m, line[threadIdx.x + k]);
    dst[(size_t)blockIdx.y * w + x] = m;
  }
}

struct GradPix { float mag; float dir; };
__global__ void sobel_shared(const uchar *src, GradPix *g, int w, int h) {
  __shared__ short t[18][18];
  int lin = threadIdx.y * 16 + threadIdx.x;
  for (int k = lin; k < 18 * 18; k += 256) {
    int yy = clampi((int)blockIdx.y * 16 + k / 18 - 1, 0, h - 1);
    int xx = clampi((int)blockIdx.x * 16 + k % 18 - 1, 0, w - 1);
    t[k / 18][k % 18] = src[yy * w + xx];
  }
  __syncthreads();
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < w && y < h) {
    int i = threadIdx.y + 1, j = threadIdx.x + 1;
    int gx = t[i - 1][j + 1] + 2 * t[i][j + 1] + t[i + 1][j + 1] - t[i - 1][j - 1] - 2 * t[i][j - 1] - t[i + 1][j - 1];
    int gy = t[i + 1][j - 1] + 2 * t[i + 1][j] + t[i + 1][j + 1] - t[i - 1][j - 1] - 2 * t[i - 1][j] - t[i - 1][j + 1];
    GradPix p;
    p.mag = sqrtf((float)(gx * gx + gy * gy));
    p.dir = (float)(gx > 0) + 2.f * (float)(gy > 0) + 4.f * (float)(abs(gx) > abs(gy));
    g[(size_t)y * w + x] = p;
  }
}

// apply tone curve: 256-entry table staged in shared memory (data-dependent positions)
__global__ void apply_lut(const uchar4 *src, uchar4 *dst, const uchar *lut, int n4) {
  __shared__ uchar sl[256];
  sl[threadIdx.x] = lut[threadIdx.x];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n4) {
    uchar4 p = src[i];
    p.x = sl[p.x];
    p.y = sl[p.y];
    p.z = sl[p.z];
    p.w = sl[p.w];
    dst[i] = p;
  }
}

int main() {
  const int w = 4096, h = 3000;
  const size_t n = (size_t)w * h;
  uchar *a = mk<uchar>(n), *b = mk<uchar>(n), *lut = mk<uchar>(256);
  float *f = mk<float>(n), *g = mk<float>(n);
  median3x3<<<dim3(DIVUP(w, TW), DIVUP(h, TW)), dim3(TW, TW)>>>(a, b, w, h);
  show("median3x3", b, n);
  bilateral<<<dim3(DIVUP(w, BTX), DIVUP(h, BTY)), dim3(BTX, BTY)>>>(f, g, w, h, 1.f / 18.f, 0.05f);
  show("bilateral", g, n * 4);
  boxblur_columns<<<dim3(DIVUP(w, 128), DIVUP(h, 64)), 128>>>(f, g, w, h);
  show("boxblur_columns", g, n * 4);
  constexpr int B = 256, R = 7;
  dilate_rows<B, R><<<dim3((w + B - 1) / B, h), B>>>(a, b, w);
  show("dilate_rows", b, n);
  GradPix *gp = (GradPix *)mk<float>(2 * n);
  sobel_shared<<<dim3(DIVUP(w, 16), DIVUP(h, 16)), dim3(16, 16)>>>(a, gp, w, h);
  show("sobel_shared", gp, n * sizeof(GradPix));
  int n4 = (int)(n / 4);
  apply_lut<<<DIVUP(n4, 256), 256>>>((const uchar4 *)a, (uchar4 *)b, lut, n4);
  show("apply_lut", b, n);
  return 0;
}
