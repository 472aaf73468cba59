// filters and stencils with halos
#include "shown.h"
#include <cuda_fp16.h>

// 1. FIR, coefficients in constant memory, halo left
#define FIR_TAPS 33
#define FIR_BLOCK 256
__constant__ float c_fir[FIR_TAPS];
__global__ void fir_filter(const float *x, float *y, int n) {
  __shared__ float s[FIR_BLOCK + FIR_TAPS - 1];
  int base = blockIdx.x * FIR_BLOCK - (FIR_TAPS - 1);
  for (int k = threadIdx.x; k < FIR_BLOCK + FIR_TAPS - 1; k += FIR_BLOCK) {
    int g = base + k;
    s[k] = (g >= 0 && g < n) ? x[g] : 0.f;
  }
  __syncthreads();
  int i = blockIdx.x * FIR_BLOCK + threadIdx.x;
  if (i >= n) return;
  float acc = 0.f;
#pragma unroll
  for (int t = 0; t < FIR_TAPS; t++) acc += c_fir[t] * s[threadIdx.x + FIR_TAPS - 1 - t];
  y[i] = acc;
}

// 2. polyphase resampler up L, down M; input window and taps in dynamic shared
__global__ void polyphaseResample(const short *__restrict__ in, float *__restrict__ out, const float *__restrict__ taps, int nIn, int nOut, int L, int M, int tapsPerPhase) {
  extern __shared__ float mem[];
  float *h = mem;                        // L * tapsPerPhase
  float *win = mem + L * tapsPerPhase;   // window
  long long first = (long long)blockIdx.x * blockDim.x;
  long long lastOut = first + blockDim.x - 1;
  int lo = (int)(first * M / L) - tapsPerPhase + 1;
  int hi = (int)(lastOut * M / L);
  for (int k = threadIdx.x; k < L * tapsPerPhase; k += blockDim.x) h[k] = taps[k];
  for (int k = threadIdx.x; k <= hi - lo; k += blockDim.x) {
    int g = lo + k;
    win[k] = g >= 0 && g < nIn ? (float)in[g] : 0.f;
  }
  __syncthreads();
  long long o = first + threadIdx.x;
  if (o < nOut) {
    long long up = o * M;
    int phase = (int)(up % L), at = (int)(up / L) - lo;
    float a = 0.f;
    for (int t = 0; t < tapsPerPhase; ++t) a = fmaf(h[phase * tapsPerPhase + t], win[at - t], a);
    out[o] = a;
  }
}

// 3. separable Gaussian on float4 pixels, both passes in one tile
__device__ __forceinline__ float4 operator*(float s, float4 a) { return make_float4(s * a.x, s * a.y, s * a.z, s * a.w); }
__device__ __forceinline__ void operator+=(float4 &a, float4 b) { a.x += b.x; a.y += b.y; a.z += b.z; a.w += b.w; }
template <int R, int BX, int BY>
__global__ void gaussianRGBA(const float4 *__restrict__ src, float4 *__restrict__ dst, int w, int h, float sigma) {
  __shared__ float4 raw[BY + 2 * R][BX + 2 * R];
  __shared__ float4 mid[BY + 2 * R][BX];
  float wgt[2 * R + 1], norm = 0.f;
#pragma unroll
  for (int k = -R; k <= R; k++) { wgt[k + R] = expf(-(float)(k * k) / (2.f * sigma * sigma)); norm += wgt[k + R]; }
#pragma unroll
  for (int k = 0; k <= 2 * R; k++) wgt[k] /= norm;
  for (int y = threadIdx.y; y < BY + 2 * R; y += BY)
    for (int x = threadIdx.x; x < BX + 2 * R; x += BX) {
      int gx = min(max((int)(blockIdx.x * BX) + x - R, 0), w - 1);
      int gy = min(max((int)(blockIdx.y * BY) + y - R, 0), h - 1);
      raw[y][x] = src[(size_t)gy * w + gx];
    }
  __syncthreads();
  for (int y = threadIdx.y; y < BY + 2 * R; y += BY) {
    float4 a = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k <= 2 * R; k++) a += wgt[k] * raw[y][threadIdx.x + k];
    mid[y][threadIdx.x] = a;
  }
  __syncthreads();
  float4 b = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int k = 0; k <= 2 * R; k++) b += wgt[k] * mid[threadIdx.y + k][threadIdx.x];
  int gx = blockIdx.x * BX + threadIdx.x, gy = blockIdx.y * BY + threadIdx.y;
  if (gx < w && gy < h) dst[(size_t)gy * w + gx] = b;
}

// 4. Sobel on bytes; interior by everyone, borders by edge threads
typedef unsigned char Pixel;
#define SOB 16
__global__ void SobelShared(Pixel *pDst, const Pixel *pSrc, unsigned int pitch, int w, int h, float fScale) {
  __shared__ Pixel t[SOB + 2][SOB + 2];
  int ix = blockIdx.x * SOB + threadIdx.x;
  int iy = blockIdx.y * SOB + threadIdx.y;
#define AT(X, Y) pSrc[(size_t)min(max((Y), 0), h - 1) * pitch + min(max((X), 0), w - 1)]
  const int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  t[ly][lx] = AT(ix, iy);
  if (threadIdx.x == 0) t[ly][0] = AT(ix - 1, iy);
  if (threadIdx.x == SOB - 1) t[ly][SOB + 1] = AT(ix + 1, iy);
  if (threadIdx.y == 0) t[0][lx] = AT(ix, iy - 1);
  if (threadIdx.y == SOB - 1) t[SOB + 1][lx] = AT(ix, iy + 1);
  if (threadIdx.x == 0 && threadIdx.y == 0) t[0][0] = AT(ix - 1, iy - 1);
  if (threadIdx.x == SOB - 1 && threadIdx.y == 0) t[0][SOB + 1] = AT(ix + 1, iy - 1);
  if (threadIdx.x == 0 && threadIdx.y == SOB - 1) t[SOB + 1][0] = AT(ix - 1, iy + 1);
  if (threadIdx.x == SOB - 1 && threadIdx.y == SOB - 1) t[SOB + 1][SOB + 1] = AT(ix + 1, iy + 1);
#undef AT
  __syncthreads();
  if (ix < w && iy < h) {
    int Horz = t[ly - 1][lx + 1] + 2 * t[ly][lx + 1] + t[ly + 1][lx + 1] - t[ly - 1][lx - 1] - 2 * t[ly][lx - 1] - t[ly + 1][lx - 1];
    int Vert = t[ly - 1][lx - 1] + 2 * t[ly - 1][lx] + t[ly - 1][lx + 1] - t[ly + 1][lx - 1] - 2 * t[ly + 1][lx] - t[ly + 1][lx + 1];
    int Sum = (int)(fScale * (abs(Horz) + abs(Vert)));
    pDst[(size_t)iy * pitch + ix] = Sum > 255 ? 255 : Sum;
  }
}

// 5. 3x3 median of 16-bit pixels by exchange network; flattened halo load
template <class T>
__device__ inline void cswap(T &a, T &b) { T lo = a < b ? a : b; b = a < b ? b : a; a = lo; }
template <class T, int W, int H>
__global__ void median3x3(const T *in, T *out, int cols, int rows) {
  __shared__ T tile[(W + 2) * (H + 2)];
  const int x0 = blockIdx.x * W - 1, y0 = blockIdx.y * H - 1;
  for (int k = threadIdx.x; k < (W + 2) * (H + 2); k += W * H) {
    int yy = y0 + k / (W + 2), xx = x0 + k % (W + 2);
    yy = yy < 0 ? 0 : (yy >= rows ? rows - 1 : yy);
    xx = xx < 0 ? 0 : (xx >= cols ? cols - 1 : xx);
    tile[k] = in[(size_t)yy * cols + xx];
  }
  __syncthreads();
  const int tx = threadIdx.x % W, ty = threadIdx.x / W;
  T v[9];
#pragma unroll
  for (int j = 0; j < 3; j++)
#pragma unroll
    for (int i = 0; i < 3; i++) v[3 * j + i] = tile[(ty + j) * (W + 2) + tx + i];
  cswap(v[1], v[2]); cswap(v[4], v[5]); cswap(v[7], v[8]);
  cswap(v[0], v[1]); cswap(v[3], v[4]); cswap(v[6], v[7]);
  cswap(v[1], v[2]); cswap(v[4], v[5]); cswap(v[7], v[8]);
  cswap(v[0], v[3]); cswap(v[5], v[8]); cswap(v[4], v[7]);
  cswap(v[3], v[6]); cswap(v[1], v[4]); cswap(v[2], v[5]);
  cswap(v[4], v[7]); cswap(v[4], v[2]); cswap(v[6], v[4]); cswap(v[4], v[2]);
  int x = x0 + 1 + tx, y = y0 + 1 + ty;
  if (x < cols && y < rows) out[(size_t)y * cols + x] = v[4];
}

// 6. bilateral on half pixels, dynamic shared tile, run-time radius
__global__ void bilateralHalf(const __half *src, __half *dst, int width, int height, int radius, float invS2, float invR2) {
  extern __shared__ __half patch[];
  const int pw = blockDim.x + 2 * radius, ph = blockDim.y + 2 * radius;
  const int bx = blockIdx.x * blockDim.x, by = blockIdx.y * blockDim.y;
  for (int j = threadIdx.y; j < ph; j += blockDim.y)
    for (int i = threadIdx.x; i < pw; i += blockDim.x) {
      int x = bx + i - radius, y = by + j - radius;
      x = abs(x); y = abs(y);                        // mirror
      if (x >= width) x = 2 * width - 2 - x;
      if (y >= height) y = 2 * height - 2 - y;
      x = max(x, 0); y = max(y, 0);
      patch[j * pw + i] = src[(size_t)y * width + x];
    }
  __syncthreads();
  int gx = bx + threadIdx.x, gy = by + threadIdx.y;
  if (gx >= width || gy >= height) return;
  float centre = __half2float(patch[(threadIdx.y + radius) * pw + threadIdx.x + radius]);
  float sum = 0.f, wsum = 0.f;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) {
      float v = __half2float(patch[(threadIdx.y + radius + dy) * pw + threadIdx.x + radius + dx]);
      float diff = v - centre;
      float wt = __expf(-(dx * dx + dy * dy) * invS2 - diff * diff * invR2);
      sum += wt * v;
      wsum += wt;
    }
  dst[(size_t)gy * width + gx] = __float2half(sum / wsum);
}

// 7. morphological gradient (dilate - erode) with a row tile, van-Herk free, 4 rows a thread
enum { MG_W = 64, MG_H = 16, MG_R = 2 };
struct MorphTile { unsigned short px[MG_H + 2 * MG_R][MG_W + 2 * MG_R]; };
struct ImageView {
  const unsigned short *data;
  int width, height, stride;
  __device__ unsigned short clamp_at(int x, int y) const {
    x = max(0, min(x, width - 1));
    y = max(0, min(y, height - 1));
    return data[(size_t)y * stride + x];
  }
};
__global__ void morphGradient(ImageView img, unsigned short *out) {
  __shared__ MorphTile tile;
  int tid = threadIdx.y * MG_W + threadIdx.x;
  for (int k = tid; k < (MG_H + 2 * MG_R) * (MG_W + 2 * MG_R); k += MG_W * 4) {
    int r = k / (MG_W + 2 * MG_R), c = k - r * (MG_W + 2 * MG_R);
    tile.px[r][c] = img.clamp_at(blockIdx.x * MG_W + c - MG_R, blockIdx.y * MG_H + r - MG_R);
  }
  __syncthreads();
  int x = blockIdx.x * MG_W + threadIdx.x;
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    int ly = threadIdx.y + 4 * q, y = blockIdx.y * MG_H + ly;
    unsigned mx = 0, mn = 65535;
    for (int j = 0; j <= 2 * MG_R; j++)
      for (int i = 0; i <= 2 * MG_R; i++) {
        unsigned v = tile.px[ly + j][threadIdx.x + i];
        mx = max(mx, v);
        mn = min(mn, v);
      }
    if (x < img.width && y < img.height) out[(size_t)y * img.stride + x] = (unsigned short)(mx - mn);
  }
}

// 8. SAD stereo matching along a scan line
constexpr int kDisp = 24, kWinR = 3, kSx = 32, kSy = 8;
__global__ void sadStereo(const unsigned char *__restrict__ left, const unsigned char *__restrict__ right, unsigned char *__restrict__ disp, unsigned width, unsigned height) {
  __shared__ unsigned char L[kSy + 2 * kWinR][kSx + 2 * kWinR];
  __shared__ unsigned char R[kSy + 2 * kWinR][kSx + 2 * kWinR + kDisp];
  const int ox = blockIdx.x * kSx - kWinR, oy = blockIdx.y * kSy - kWinR;
  for (int j = threadIdx.y; j < kSy + 2 * kWinR; j += kSy) {
    const int y = oy + j;
    const bool yok = y >= 0 && y < (int)height;
    for (int i = threadIdx.x; i < kSx + 2 * kWinR; i += kSx) {
      int x = ox + i;
      L[j][i] = yok && x >= 0 && x < (int)width ? left[(size_t)y * width + x] : 0;
    }
    for (int i = threadIdx.x; i < kSx + 2 * kWinR + kDisp; i += kSx) {
      int x = ox + i - kDisp;
      R[j][i] = yok && x >= 0 && x < (int)width ? right[(size_t)y * width + x] : 0;
    }
  }
  __syncthreads();
  unsigned best = ~0u;
  int bestD = 0;
  for (int d = 0; d <= kDisp; ++d) {
    unsigned sad = 0;
#pragma unroll
    for (int j = 0; j <= 2 * kWinR; ++j)
#pragma unroll
      for (int i = 0; i <= 2 * kWinR; ++i) sad = __sad((int)L[threadIdx.y + j][threadIdx.x + i], (int)R[threadIdx.y + j][threadIdx.x + i + kDisp - d], sad);
    if (sad < best) { best = sad; bestD = d; }
  }
  unsigned x = blockIdx.x * kSx + threadIdx.x, y = blockIdx.y * kSy + threadIdx.y;
  if (x < width && y < height) disp[(size_t)y * width + x] = (unsigned char)bestD;
}

int main() {
  {
    float h[FIR_TAPS];
    for (int i = 0; i < FIR_TAPS; i++) h[i] = 1.f / (1 + (i - 16) * (i - 16));
    cudaMemcpyToSymbol(c_fir, h, sizeof h);
    int n = (1 << 25) + 101;
    float *x = mk<float>(n), *y = mk<float>(n);
    fir_filter<<<(n + FIR_BLOCK - 1) / FIR_BLOCK, FIR_BLOCK>>>(x, y, n);
    show("fir_filter", y, (size_t)n * 4);
    cudaFree(x); cudaFree(y);
  }
  {
    int L = 5, M = 3, tp = 16, nIn = 9000001;
    int nOut = (int)((long long)nIn * L / M), bs = 192;
    short *in = mk<short>(nIn);
    float *out = mk<float>(nOut), *taps = mk<float>(L * tp);
    int win = bs * M / L + tp + 4;
    polyphaseResample<<<(nOut + bs - 1) / bs, bs, (L * tp + win) * sizeof(float)>>>(in, out, taps, nIn, nOut, L, M, tp);
    show("polyphaseResample", out, (size_t)nOut * 4);
    cudaFree(in); cudaFree(out);
  }
  {
    int w = 2561, h = 1919;
    float4 *s = (float4 *)mk<float>((size_t)w * h * 4), *d = (float4 *)mk<float>((size_t)w * h * 4);
    gaussianRGBA<4, 32, 8><<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(s, d, w, h, 1.7f);
    show("gaussianRGBA", d, (size_t)w * h * 16);
    cudaFree(s); cudaFree(d);
  }
  {
    int w = 8190, h = 4001, pitch = 8192;
    Pixel *s = mk<Pixel>((size_t)pitch * h), *d = mk<Pixel>((size_t)pitch * h);
    SobelShared<<<dim3((w + SOB - 1) / SOB, (h + SOB - 1) / SOB), dim3(SOB, SOB)>>>(d, s, pitch, w, h, 1.5f);
    show("SobelShared", d, (size_t)pitch * h);
  }
  {
    int w = 7777, h = 3333;
    unsigned short *s = mk<unsigned short>((size_t)w * h), *d = mk<unsigned short>((size_t)w * h);
    median3x3<unsigned short, 64, 4><<<dim3((w + 63) / 64, (h + 3) / 4), 256>>>(s, d, w, h);
    show("median3x3", d, (size_t)w * h * 2);
  }
  {
    int w = 3001, h = 2003, rad = 4;
    size_t n = (size_t)w * h;
    __half *hh = (__half *)malloc(n * 2), *s, *d;
    for (size_t i = 0; i < n; i++) hh[i] = __float2half((float)(i * 31 % 257) * 0.01f);
    cudaMalloc(&s, n * 2);
    cudaMalloc(&d, n * 2);
    cudaMemcpy(s, hh, n * 2, cudaMemcpyHostToDevice);
    dim3 b(32, 4);
    size_t sh = (b.x + 2 * rad) * (b.y + 2 * rad) * sizeof(__half);
    bilateralHalf<<<dim3((w + b.x - 1) / b.x, (h + b.y - 1) / b.y), b, sh>>>(s, d, w, h, rad, 0.05f, 0.7f);
    show("bilateralHalf", d, n * 2);
    free(hh);
  }
  {
    ImageView v;
    v.width = 6007; v.height = 4093; v.stride = 6016;
    v.data = mk<unsigned short>((size_t)v.stride * v.height);
    unsigned short *o = mk<unsigned short>((size_t)v.stride * v.height);
    morphGradient<<<dim3((v.width + MG_W - 1) / MG_W, (v.height + MG_H - 1) / MG_H), dim3(MG_W, 4)>>>(v, o);
    show("morphGradient", o, (size_t)v.stride * v.height * 2);
  }
  {
    unsigned w = 1925, h = 1087;
    unsigned char *l = mk<unsigned char>(w * h), *r = mk<unsigned char>(w * h + 7), *d = mk<unsigned char>(w * h);
    sadStereo<<<dim3((w + kSx - 1) / kSx, (h + kSy - 1) / kSy), dim3(kSx, kSy)>>>(l, r + 7, d, w, h);
    show("sadStereo", d, (size_t)w * h);
  }
  return 0;
}
