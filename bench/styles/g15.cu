// computer vision primitives
#include "shown.h"
#include <math.h>
typedef unsigned char uchar;
static inline int divUp(int a, int b) { return (a + b - 1) / b; }

// census transform, 7x7 neighbourhood, 48 bits
#define CT_X 32
#define CT_Y 8
#define CT_R 3
__global__ void census7x7(const uchar *img, unsigned long long *census, int w, int h) {
  __shared__ uchar s[CT_Y + 2 * CT_R][CT_X + 2 * CT_R];
  const int bx = blockIdx.x * CT_X, by = blockIdx.y * CT_Y;
  const int tid = threadIdx.y * CT_X + threadIdx.x;
  const int SW = CT_X + 2 * CT_R, SH = CT_Y + 2 * CT_R;
  for (int i = tid; i < SW * SH; i += CT_X * CT_Y) {
    int y = by + i / SW - CT_R, x = bx + i % SW - CT_R;
    s[i / SW][i % SW] = (x >= 0 && x < w && y >= 0 && y < h) ? img[y * w + x] : 0;
  }
  __syncthreads();
  int x = bx + threadIdx.x, y = by + threadIdx.y;
  if (x >= w || y >= h) return;
  uchar c = s[threadIdx.y + CT_R][threadIdx.x + CT_R];
  unsigned long long bits = 0;
  for (int dy = 0; dy < 7; ++dy)
    for (int dx = 0; dx < 7; ++dx)
      if (dy != 3 || dx != 3) bits = (bits << 1) | (s[threadIdx.y + dy][threadIdx.x + dx] < c);
  census[(size_t)y * w + x] = bits;
}

// template matching, sum of squared differences, 8x8 template in shared
#define TPL 8
__global__ void match_template_ssd(const float *__restrict__ img, const float *__restrict__ tpl, float *__restrict__ res, int w, int h) {
  __shared__ float st[TPL][TPL];
  __shared__ float si[16 + TPL - 1][16 + TPL];
  const int tx = threadIdx.x, ty = threadIdx.y;
  if (tx < TPL && ty < TPL) st[ty][tx] = tpl[ty * TPL + tx];
  for (int yy = ty; yy < 16 + TPL - 1; yy += 16)
    for (int xx = tx; xx < 16 + TPL - 1; xx += 16) {
      int gx = blockIdx.x * 16 + xx, gy = blockIdx.y * 16 + yy;
      si[yy][xx] = gx < w && gy < h ? img[(size_t)gy * w + gx] : 0.f;
    }
  __syncthreads();
  int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  if (x > w - TPL || y > h - TPL) return;
  float sum = 0.f;
  for (int j = 0; j < TPL; ++j)
    for (int i = 0; i < TPL; ++i) {
      float d = si[ty + j][tx + i] - st[j][i];
      sum += d * d;
    }
  res[(size_t)y * (w - TPL + 1) + x] = sum;
}

// Gaussian pyramid level: vertical pass into shared, horizontal pass out, stride 2
__global__ void pyr_down(const float *src, float *dst, int sw, int sh, int dw) {
  __shared__ float smem[256 + 4];
  const int x = blockIdx.x * 256 + threadIdx.x;
  const int y = blockIdx.y;
  const int sy = 2 * y;
#define ROW(k) (min(max(sy + (k), 0), sh - 1))
#define VPASS(xx) (0.0625f * src[(size_t)ROW(-2) * sw + (xx)] + 0.25f * src[(size_t)ROW(-1) * sw + (xx)] + 0.375f * src[(size_t)ROW(0) * sw + (xx)] + \
                   0.25f * src[(size_t)ROW(1) * sw + (xx)] + 0.0625f * src[(size_t)ROW(2) * sw + (xx)])
  {
    int xc = min(x, sw - 1);
    smem[2 + threadIdx.x] = VPASS(xc);
  }
  if (threadIdx.x < 2) {
    int xl = max((int)(blockIdx.x * 256 + threadIdx.x) - 2, 0);
    smem[threadIdx.x] = VPASS(xl);
  }
  if (threadIdx.x > 253) {
    int xr = min(x + 2, sw - 1);
    smem[4 + threadIdx.x] = VPASS(xr);
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    const int tid2 = threadIdx.x * 2;
    float sum = 0.0625f * smem[2 + tid2 - 2] + 0.25f * smem[2 + tid2 - 1] + 0.375f * smem[2 + tid2] + 0.25f * smem[2 + tid2 + 1] + 0.0625f * smem[2 + tid2 + 2];
    const int dx = (blockIdx.x * 256 + tid2) / 2;
    if (dx < dw) dst[(size_t)y * dw + dx] = sum;
  }
}

// corner non-maximum suppression, 5x5 window
__global__ void nms5(const float *resp, uchar *keep, int w, int h, float thr) {
  __shared__ float r[20][20];
  int x0 = blockIdx.x * 16 - 2, y0 = blockIdx.y * 16 - 2;
  for (int j = threadIdx.y; j < 20; j += 16)
    for (int i = threadIdx.x; i < 20; i += 16) {
      int x = x0 + i, y = y0 + j;
      float v = -1.f;
      if (x >= 0 && y >= 0 && x < w && y < h) v = resp[(size_t)y * w + x];
      r[j][i] = v;
    }
  __syncthreads();
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < w && y < h) {
    float c = r[threadIdx.y + 2][threadIdx.x + 2];
    int ok = c > thr;
    for (int j = 0; j < 5 && ok; ++j)
      for (int i = 0; i < 5; ++i)
        if (r[threadIdx.y + j][threadIdx.x + i] > c) ok = 0;
    keep[(size_t)y * w + x] = ok ? 255 : 0;
  }
}

// integral image, row pass: one row per block, chunks of 256 with a running carry
__global__ void integral_rows(const uchar *src, unsigned *dst, int w) {
  __shared__ unsigned s[256];
  __shared__ unsigned carry;
  const int t = threadIdx.x;
  if (t == 0) carry = 0;
  __syncthreads();
  for (int x0 = 0; x0 < w; x0 += 256) {
    int x = x0 + t;
    s[t] = x < w ? src[(size_t)blockIdx.x * w + x] : 0;
    __syncthreads();
    for (int o = 1; o < 256; o <<= 1) {
      unsigned v = t >= o ? s[t - o] : 0;
      __syncthreads();
      s[t] += v;
      __syncthreads();
    }
    if (x < w) dst[(size_t)blockIdx.x * w + x] = s[t] + carry;
    __syncthreads();
    if (t == 255) carry += s[255];
    __syncthreads();
  }
}

// HOG: orientation histogram of an 8x8 cell in a private array, one cell per thread
#define NB 9
__global__ void hog_cells(const float *mag, const float *ang, float *hist, int cw, int ch, int w) {
  int cx = blockIdx.x * blockDim.x + threadIdx.x, cy = blockIdx.y * blockDim.y + threadIdx.y;
  if (cx >= cw || cy >= ch) return;
  float h[NB];
  for (int b = 0; b < NB; ++b) h[b] = 0.f;
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < 8; ++i) {
      size_t p = (size_t)(cy * 8 + j) * w + cx * 8 + i;
      float a = ang[p] * (NB / 13.f);
      int b = (int)a;
      float f = a - b;
      h[b % NB] += mag[p] * (1.f - f);
      h[(b + 1) % NB] += mag[p] * f;
    }
  float n = 0.f;
  for (int b = 0; b < NB; ++b) n += h[b] * h[b];
  n = rsqrtf(n + 1e-4f);
  for (int b = 0; b < NB; ++b) hist[((size_t)b * ch + cy) * cw + cx] = h[b] * n;
}

// stereo cost: per-pixel sliding SAD over disparities, left and right strips staged
#define ND 32
__global__ void stereo_bm_rows(const uchar *L, const uchar *R, uchar *disp, int w) {
  __shared__ uchar sl[128 + 8];
  __shared__ uchar sr[128 + 8 + ND];
  const int x0 = blockIdx.x * 128;
  const size_t row = (size_t)blockIdx.y * w;
  for (int i = threadIdx.x; i < 136; i += 128) sl[i] = L[row + min(max(x0 + i - 4, 0), w - 1)];
  for (int i = threadIdx.x; i < 136 + ND; i += 128) sr[i] = R[row + min(max(x0 + i - 4 - ND, 0), w - 1)];
  __syncthreads();
  int best = 1 << 30, bd = 0;
  for (int d = 0; d < ND; ++d) {
    int c = 0;
    for (int k = 0; k < 9; ++k) c += abs((int)sl[threadIdx.x + k] - (int)sr[threadIdx.x + k + ND - d]);
    if (c < best) {
      best = c;
      bd = d;
    }
  }
  if (x0 + threadIdx.x < w) disp[row + x0 + threadIdx.x] = (uchar)bd;
}

int main() {
  const int w = 2048, h = 2048;
  const size_t n = (size_t)w * h;
  uchar *img = mk<uchar>(n), *right = mk<uchar>(n + 64), *k = mk<uchar>(n);
  float *f = mk<float>(n), *g = mk<float>(n), *o = mk<float>(n), *t = mk<float>(TPL * TPL);
  unsigned long long *c = mk<unsigned long long>(n);
  census7x7<<<dim3(divUp(w, CT_X), divUp(h, CT_Y)), dim3(CT_X, CT_Y)>>>(img, c, w, h);
  show("census7x7", c, n * 8);
  dim3 b16(16, 16), g16(divUp(w, 16), divUp(h, 16));
  match_template_ssd<<<g16, b16>>>(f, t, o, w, h);
  show("match_template_ssd", o, (size_t)(w - TPL + 1) * (h - TPL + 1) * 4);
  pyr_down<<<dim3(divUp(w, 256), h / 2), 256>>>(f, o, w, h, w / 2);
  show("pyr_down", o, n);
  nms5<<<g16, b16>>>(f, k, w, h, 10.f);
  show("nms5", k, n);
  unsigned *I = mk<unsigned>(n);
  integral_rows<<<h, 256>>>(img, I, w);
  show("integral_rows", I, n * 4);
  dim3 hb(32, 4), hg(divUp(w / 8, 32), divUp(h / 8, 4));
  hog_cells<<<hg, hb>>>(f, g, o, w / 8, h / 8, w);
  show("hog_cells", o, (size_t)NB * (w / 8) * (h / 8) * 4);
  stereo_bm_rows<<<dim3(divUp(w, 128), h), 128>>>(img, right + 17, k, w);
  show("stereo_bm_rows", k, n);
  return 0;
}
