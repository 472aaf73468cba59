// Image filters from several hands: local statistics, edge-preserving smoothing,
// stereo preprocessing and matching, demosaicing, morphology.
#include <cmath>
#include "shown.h"

// ---- 1. local contrast normalisation on bytes --------------------------------
template <int R, int BX, int BY>
__global__ void localContrastNorm(const unsigned char *__restrict__ src, float *__restrict__ dst, int W, int H) {
  __shared__ unsigned char tile[BY + 2 * R][BX + 2 * R];
  const int bx = blockIdx.x * BX - R, by = blockIdx.y * BY - R;
  for (int j = threadIdx.y; j < BY + 2 * R; j += BY)
    for (int i = threadIdx.x; i < BX + 2 * R; i += BX) {
      int x = min(max(bx + i, 0), W - 1);
      int y = min(max(by + j, 0), H - 1);
      tile[j][i] = src[y * W + x];
    }
  __syncthreads();
  int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
  if (x >= W || y >= H) return;
  int s = 0, ss = 0;
#pragma unroll
  for (int j = 0; j <= 2 * R; ++j)
#pragma unroll
    for (int i = 0; i <= 2 * R; ++i) {
      int v = tile[threadIdx.y + j][threadIdx.x + i];
      s += v;
      ss += v * v;
    }
  const float inv = 1.f / ((2 * R + 1) * (2 * R + 1));
  float m = s * inv, var = ss * inv - m * m;
  dst[y * W + x] = (tile[threadIdx.y + R][threadIdx.x + R] - m) * rsqrtf(fmaxf(var, 0.f) + 1.f);
}

// ---- 2. Kuwahara filter: the calmest of four 3x3 quadrants --------------------
struct MeanVar { float m, v; };

__device__ static MeanVar quadrant(const float (*t)[36], unsigned r0, unsigned c0) {
  float a = 0.f, b = 0.f;
  for (unsigned r = r0; r < r0 + 3; r++)
    for (unsigned c = c0; c < c0 + 3; c++) {
      float q = t[r][c];
      a += q;
      b = fmaf(q, q, b);
    }
  MeanVar o;
  o.m = a / 9.f;
  o.v = b / 9.f - o.m * o.m;
  return o;
}

__global__ void kuwahara5(float *out, const float *in, unsigned width, unsigned height, unsigned pitch) {
  __shared__ float t[12][36];
  unsigned lx = threadIdx.x, ly = threadIdx.y;
  for (unsigned id = ly * 32 + lx; id < 12 * 36; id += 256) {
    int gy = (int)(blockIdx.y * 8 + id / 36) - 2;
    int gx = (int)(blockIdx.x * 32 + id % 36) - 2;
    if (gx < 0) gx = -gx;
    if (gy < 0) gy = -gy;
    if (gx >= (int)width) gx = 2 * (int)width - 2 - gx;
    if (gy >= (int)height) gy = 2 * (int)height - 2 - gy;
    if (gx < 0) gx = 0;
    if (gy < 0) gy = 0;
    t[id / 36][id % 36] = in[(unsigned)gy * pitch + (unsigned)gx];
  }
  __syncthreads();
  unsigned x = blockIdx.x * 32 + lx, y = blockIdx.y * 8 + ly;
  if (x < width && y < height) {
    MeanVar best = quadrant(t, ly, lx);
    MeanVar q1 = quadrant(t, ly, lx + 2);
    MeanVar q2 = quadrant(t, ly + 2, lx);
    MeanVar q3 = quadrant(t, ly + 2, lx + 2);
    if (q1.v < best.v) best = q1;
    if (q2.v < best.v) best = q2;
    if (q3.v < best.v) best = q3;
    out[y * pitch + x] = best.m;
  }
}

// ---- 3. unsharp mask on RGBA, separable blur within the tile ------------------
#define USM_R 3
#define USM_BX 16
#define USM_BY 16
__constant__ float kUsm[2 * USM_R + 1];

__device__ __forceinline__ float4 operator*(float s, float4 v) { return make_float4(s * v.x, s * v.y, s * v.z, s * v.w); }
__device__ __forceinline__ void operator+=(float4 &a, float4 b) { a.x += b.x; a.y += b.y; a.z += b.z; a.w += b.w; }
__device__ __forceinline__ unsigned char sat8(float f) { return (unsigned char)fminf(fmaxf(f + 0.5f, 0.f), 255.f); }

__global__ void __launch_bounds__(USM_BX *USM_BY)
unsharp_rgba(const uchar4 *__restrict__ img, uchar4 *__restrict__ res, int nx, int ny, float amount)
{
  __shared__ uchar4 raw[USM_BY + 2 * USM_R][USM_BX + 2 * USM_R];
  __shared__ float4 hor[USM_BY + 2 * USM_R][USM_BX];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x0 = blockIdx.x * USM_BX, y0 = blockIdx.y * USM_BY;
  for (int r = ty; r < USM_BY + 2 * USM_R; r += USM_BY) {
    int gy = min(max(y0 + r - USM_R, 0), ny - 1);
    for (int c = tx; c < USM_BX + 2 * USM_R; c += USM_BX) {
      int gx = min(max(x0 + c - USM_R, 0), nx - 1);
      raw[r][c] = img[(size_t)gy * nx + gx];
    }
  }
  __syncthreads();
  for (int r = ty; r < USM_BY + 2 * USM_R; r += USM_BY) {
    float4 a = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
    for (int k = 0; k <= 2 * USM_R; k++) {
      uchar4 p = raw[r][tx + k];
      a += kUsm[k] * make_float4(p.x, p.y, p.z, p.w);
    }
    hor[r][tx] = a;
  }
  __syncthreads();
  int x = x0 + tx, y = y0 + ty;
  if (x < nx && y < ny) {
    float4 b = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
    for (int k = 0; k <= 2 * USM_R; k++) b += kUsm[k] * hor[ty + k][tx];
    uchar4 c = raw[ty + USM_R][tx + USM_R];
    uchar4 o;
    o.x = sat8(c.x + amount * (c.x - b.x));
    o.y = sat8(c.y + amount * (c.y - b.y));
    o.z = sat8(c.z + amount * (c.z - b.z));
    o.w = c.w;
    res[(size_t)y * nx + x] = o;
  }
}

// ---- 4. census transform 9x7 into 62 bits --------------------------------------
namespace census {
constexpr int HX = 4, HY = 3, TX = 32, TY = 8;
__global__ void transform(const unsigned char *img, unsigned long long *code, const int cols, const int rows) {
  __shared__ unsigned char win[TY + 2 * HY][TX + 2 * HX];
  const int c = blockIdx.x * TX + threadIdx.x;
  const int r = blockIdx.y * TY + threadIdx.y;
  const int flat = threadIdx.y * TX + threadIdx.x;
  for (int e = flat; e < (TY + 2 * HY) * (TX + 2 * HX); e += TX * TY) {
    int wr = e / (TX + 2 * HX), wc = e - wr * (TX + 2 * HX);
    int ir = (int)blockIdx.y * TY + wr - HY, ic = (int)blockIdx.x * TX + wc - HX;
    win[wr][wc] = (ir >= 0 && ir < rows && ic >= 0 && ic < cols) ? img[ir * cols + ic] : 0;
  }
  __syncthreads();
  const unsigned char mid = win[threadIdx.y + HY][threadIdx.x + HX];
  unsigned long long bits = 0;
#pragma unroll
  for (int dy = -HY; dy <= HY; dy++)
#pragma unroll
    for (int dx = -HX; dx <= HX; dx++) {
      if (dx == 0 && dy == 0) continue;
      bits = (bits << 1) | (win[threadIdx.y + HY + dy][threadIdx.x + HX + dx] < mid ? 1ull : 0ull);
    }
  if (c < cols && r < rows) code[r * cols + c] = bits;
}
}  // namespace census

// ---- 5. block matching along scan lines (SAD, 1-D support of 11) ---------------
#define BM_T 128
#define BM_HALF 5
#define BM_DMAX 48
__global__ void scanline_sad(const float *L, const float *Rt, int *disp, int w) {
  __shared__ float sl[BM_T + 2 * BM_HALF];
  __shared__ float sr[BM_T + 2 * BM_HALF + BM_DMAX];
  int t = threadIdx.x;
  int col0 = blockIdx.x * BM_T;
  size_t off = (size_t)blockIdx.y * w;
  for (int i = t; i < BM_T + 2 * BM_HALF; i += BM_T) {
    int g = col0 + i - BM_HALF;
    sl[i] = (g >= 0 && g < w) ? L[off + g] : 0.0f;
  }
  for (int i = t; i < BM_T + 2 * BM_HALF + BM_DMAX; i += BM_T) {
    int g = col0 + i - BM_HALF - BM_DMAX;
    sr[i] = (g >= 0 && g < w) ? Rt[off + g] : 0.0f;
  }
  __syncthreads();
  float best = 1e30f;
  int arg = 0;
  for (int d = 0; d <= BM_DMAX; ++d) {
    float cost = 0.0f;
    for (int k = 0; k <= 2 * BM_HALF; ++k) cost += fabsf(sl[t + k] - sr[t + k + BM_DMAX - d]);
    if (cost < best) { best = cost; arg = d; }
  }
  if (col0 + t < w) disp[off + col0 + t] = arg;
}

// ---- 6. gradient corrected demosaicing (Malvar-He-Cutler), 12-bit raw ----------
typedef unsigned short u16;
#define P(dy, dx) ((int)s[ty + 2 + (dy)][tx + 2 + (dx)])
__global__ void demosaic_mhc(const u16 *raw, ushort3 *rgb, int w, int h) {
  __shared__ u16 s[16 + 4][32 + 4];
  int tx = threadIdx.x, ty = threadIdx.y;
  int ox = blockIdx.x * 32 - 2, oy = blockIdx.y * 16 - 2;
  for (int i = ty * 32 + tx; i < 20 * 36; i += 32 * 16) {
    int y = oy + i / 36, x = ox + i % 36;
    // keep the colour phase: mirror about the edge sample
    y = y < 0 ? -y : y; y = y >= h ? 2 * (h - 1) - y : y;
    x = x < 0 ? -x : x; x = x >= w ? 2 * (w - 1) - x : x;
    s[i / 36][i % 36] = (x >= 0 && y >= 0) ? raw[y * w + x] : (u16)0;
  }
  __syncthreads();
  int x = blockIdx.x * 32 + tx, y = blockIdx.y * 16 + ty;
  if (x < w && y < h) {
    int c = P(0, 0);
    int cross = P(-1, 0) + P(1, 0) + P(0, -1) + P(0, 1);
    int diag = P(-1, -1) + P(-1, 1) + P(1, -1) + P(1, 1);
    int fv = P(-2, 0) + P(2, 0), fh = P(0, -2) + P(0, 2);
    int gAtRB = (4 * c + 2 * cross - fv - fh) / 8;
    int dAtRB = (12 * c + 4 * diag - 3 * (fv + fh)) / 16;
    int hAtG = (10 * c + 8 * (P(0, -1) + P(0, 1)) - 2 * diag - 2 * fh + fv) / 16;
    int vAtG = (10 * c + 8 * (P(-1, 0) + P(1, 0)) - 2 * diag - 2 * fv + fh) / 16;
    int R, G, B;
    if ((y & 1) == 0) {
      if ((x & 1) == 0) { R = c; G = gAtRB; B = dAtRB; }
      else              { R = hAtG; G = c; B = vAtG; }
    } else {
      if ((x & 1) == 0) { R = vAtG; G = c; B = hAtG; }
      else              { R = dAtRB; G = gAtRB; B = c; }
    }
    ushort3 o;
    o.x = (u16)min(max(R, 0), 4095);
    o.y = (u16)min(max(G, 0), 4095);
    o.z = (u16)min(max(B, 0), 4095);
    rgb[y * w + x] = o;
  }
}
#undef P

// ---- 7. oil painting: most frequent intensity level in a 7x7 window -------------
__global__ void oilPaint(const unsigned char *src, unsigned char *dst, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  unsigned short count[16];
  unsigned short total[16];
  for (int k = 0; k < 16; k++) { count[k] = 0; total[k] = 0; }
  for (int dy = -3; dy <= 3; dy++) {
    int yy = y + dy;
    if (yy < 0 || yy >= h) continue;
    for (int dx = -3; dx <= 3; dx++) {
      int xx = x + dx;
      if (xx < 0 || xx >= w) continue;
      unsigned char v = src[yy * w + xx];
      int level = (v * 5 >> 2) & 15;
      count[level]++;
      total[level] += v;
    }
  }
  int mode = 0;
  for (int k = 1; k < 16; k++)
    if (count[k] > count[mode]) mode = k;
  dst[y * w + x] = (unsigned char)(total[mode] / count[mode]);
}

// ---- 8. van Herk / Gil-Werman dilation along rows -------------------------------
// window 2*HALF+1 = SEG; prefix maxima and suffix maxima in each segment of SEG samples
template <typename T, int SEG, int NSEG>
__global__ void dilateRowsVHGW(const T *__restrict__ in, T *__restrict__ out, int w) {
  enum { LEN = SEG * NSEG, HALF = SEG / 2, VALID = LEN - SEG + 1 };
  __shared__ T val[LEN];
  __shared__ T fwd[LEN];
  __shared__ T bwd[LEN];
  const T *row = in + (size_t)blockIdx.y * w;
  const int start = blockIdx.x * VALID - HALF;
  for (int i = threadIdx.x; i < LEN; i += blockDim.x) {
    int g = start + i;
    val[i] = (g >= 0 && g < w) ? row[g] : (T)0;
  }
  __syncthreads();
  if (threadIdx.x < NSEG) {
    int b = threadIdx.x * SEG;
    T m = val[b];
    fwd[b] = m;
    for (int k = 1; k < SEG; k++) { T v = val[b + k]; m = v > m ? v : m; fwd[b + k] = m; }
  } else if (threadIdx.x >= 64 && threadIdx.x < 64 + NSEG) {
    int b = (threadIdx.x - 64) * SEG;
    T m = val[b + SEG - 1];
    bwd[b + SEG - 1] = m;
    for (int k = SEG - 2; k >= 0; k--) { T v = val[b + k]; m = v > m ? v : m; bwd[b + k] = m; }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < VALID; i += blockDim.x) {
    int g = blockIdx.x * VALID + i;
    if (g < w) {
      T a = bwd[i], b = fwd[i + SEG - 1];
      out[(size_t)blockIdx.y * w + g] = a > b ? a : b;
    }
  }
}

int main() {
  const int W = 4096, H = 4000;
  const size_t N = (size_t)W * H;
  unsigned char *b0 = mk<unsigned char>(N), *b1 = mk<unsigned char>(N);
  float *f0 = mk<float>(N), *f1 = mk<float>(N);
  localContrastNorm<4, 16, 16><<<dim3((W + 15) / 16, (H + 15) / 16), dim3(16, 16)>>>(b0, f1, W, H);
  show("localContrastNorm", f1, N * 4);

  kuwahara5<<<dim3((4001 + 31) / 32, (3901 + 7) / 8), dim3(32, 8)>>>(f1, f0, 4001, 3901, W);
  show("kuwahara5", f1, N * 4);
  {
    float k[7] = {0.03f, 0.11f, 0.22f, 0.28f, 0.22f, 0.11f, 0.03f};
    cudaMemcpyToSymbol(kUsm, k, sizeof k);
    uchar4 *img = (uchar4 *)mk<unsigned char>(4 * N), *res = (uchar4 *)mk<unsigned char>(4 * N);
    int nx = 3840, ny = 2161;
    unsharp_rgba<<<dim3((nx + USM_BX - 1) / USM_BX, (ny + USM_BY - 1) / USM_BY), dim3(USM_BX, USM_BY)>>>(img, res, nx, ny, 1.7f);
    show("unsharp_rgba", res, (size_t)nx * ny * 4);
    cudaFree(img); cudaFree(res);
  }
  {
    unsigned long long *code = mk<unsigned long long>(N);
    census::transform<<<dim3((3333 + 31) / 32, (2500 + 7) / 8), dim3(32, 8)>>>(b0, code, 3333, 2500);
    show("census::transform", code, (size_t)3333 * 2500 * 8);
    cudaFree(code);
  }
  {
    int *d = mk<int>(N);
    int w = 2880, h = 1988;
    scanline_sad<<<dim3((w + BM_T - 1) / BM_T, h), BM_T>>>(f0, f1, d, w);
    show("scanline_sad", d, (size_t)w * h * 4);
    cudaFree(d);
  }
  {
    int w = 5472, h = 3648;
    u16 *raw = mk<u16>((size_t)w * h);
    ushort3 *rgb = (ushort3 *)mk<u16>((size_t)w * h * 3);
    demosaic_mhc<<<dim3((w + 31) / 32, (h + 15) / 16), dim3(32, 16)>>>(raw, rgb, w, h);
    show("demosaic_mhc", rgb, (size_t)w * h * 6);
    cudaFree(raw); cudaFree(rgb);
  }
  oilPaint<<<dim3((1920 + 31) / 32, (1080 + 3) / 4), dim3(32, 4)>>>(b0, b1, 1920, 1080);
  show("oilPaint", b1, 1920 * 1080);
  {
    const int SEG = 21, NSEG = 24, VALID = SEG * NSEG - SEG + 1;
    dilateRowsVHGW<float, SEG, NSEG><<<dim3((W + VALID - 1) / VALID, H), 128>>>(f0, f1, W);
    show("dilateRowsVHGW", f1, N * 4);
  }
  return 0;
}
