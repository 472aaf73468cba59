// stencils and filters: other idioms
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#define CUDA_CALL(x) if ((x) != cudaSuccess) { printf("Error at %s:%d\n", __FILE__, __LINE__); return EXIT_FAILURE; }
typedef unsigned char uchar;

// 1. generic templated 2-D conv struct-y style, run-time filter in constant, halo by pointer arithmetic & flat shared
template <typename T, int R, int BX, int BY>
struct ConvCfg { static constexpr int SW = BX + 2 * R, SH = BY + 2 * R; };
__constant__ float cFilter[49];
template <typename T, int R, int BX, int BY>
__global__ void conv2d(const T *__restrict__ in, T *__restrict__ out, int w, int h, int ldi, int ldo) {
  using C = ConvCfg<T, R, BX, BY>;
  __shared__ T smem[C::SH * C::SW];
  const int bx = blockIdx.x * BX, by = blockIdx.y * BY;
  for (int i = threadIdx.y * BX + threadIdx.x; i < C::SH * C::SW; i += BX * BY) {
    const int y = by - R + i / C::SW;
    const int x = bx - R + i % C::SW;
    T v = T(0);
    if (unsigned(x) < unsigned(w) && unsigned(y) < unsigned(h)) v = in[y * ldi + x];
    smem[i] = v;
  }
  __syncthreads();
  const int x = bx + threadIdx.x, y = by + threadIdx.y;
  if (x >= w || y >= h) return;
  float acc = 0.f;
#pragma unroll
  for (int fy = 0; fy <= 2 * R; ++fy)
#pragma unroll
    for (int fx = 0; fx <= 2 * R; ++fx) acc += cFilter[fy * (2 * R + 1) + fx] * float(smem[(threadIdx.y + fy) * C::SW + threadIdx.x + fx]);
  out[y * ldo + x] = T(acc);
}

// 2. CNN depthwise conv layer, NCHW, stride 1, 3x3
__global__ void depthwise3x3(const float *x, const float *wgt, const float *bias, float *y, int C, int H, int W) {
  __shared__ float s[10][34];
  int c = blockIdx.z % C;
  const float *xp = x + (size_t)blockIdx.z * H * W;
  int ox = blockIdx.x * 32 + threadIdx.x, oy = blockIdx.y * 8 + threadIdx.y;
  for (int i = threadIdx.y; i < 10; i += 8)
    for (int j = threadIdx.x; j < 34; j += 32) {
      int iy = blockIdx.y * 8 + i - 1, ix = blockIdx.x * 32 + j - 1;
      s[i][j] = (iy >= 0 && iy < H && ix >= 0 && ix < W) ? xp[iy * W + ix] : 0.f;
    }
  __syncthreads();
  if (ox < W && oy < H) {
    float acc = bias[c];
    for (int ky = 0; ky < 3; ++ky)
      for (int kx = 0; kx < 3; ++kx) acc += wgt[c * 9 + ky * 3 + kx] * s[threadIdx.y + ky][threadIdx.x + kx];
    y[(size_t)blockIdx.z * H * W + oy * W + ox] = fmaxf(acc, 0.f);
  }
}

// 3. gaussian pyramid downsample by two, 5 tap separable in one kernel, two shared arrays
__global__ void pyrDown(const float *src, int sw, int sh, float *dst, int dw, int dh) {
  __shared__ float buf[256 + 4];
  int x = blockIdx.x * 256 + threadIdx.x;
  int y = blockIdx.y;
  int sy = 2 * y;
  float sum = 0.f;
  int xc = min(max(x, 0), sw - 1);
  sum += 0.0625f * src[max(sy - 2, 0) * sw + xc];
  sum += 0.25f * src[max(sy - 1, 0) * sw + xc];
  sum += 0.375f * src[min(sy, sh - 1) * sw + xc];
  sum += 0.25f * src[min(sy + 1, sh - 1) * sw + xc];
  sum += 0.0625f * src[min(sy + 2, sh - 1) * sw + xc];
  buf[2 + threadIdx.x] = sum;
  if (threadIdx.x < 2) {
    int l = max((int)(blockIdx.x * 256 + threadIdx.x) - 2, 0);
    sum = 0.0625f * src[max(sy - 2, 0) * sw + l];
    sum += 0.25f * src[max(sy - 1, 0) * sw + l];
    sum += 0.375f * src[min(sy, sh - 1) * sw + l];
    sum += 0.25f * src[min(sy + 1, sh - 1) * sw + l];
    sum += 0.0625f * src[min(sy + 2, sh - 1) * sw + l];
    buf[threadIdx.x] = sum;
  }
  if (threadIdx.x > 253) {
    int r = min(x + 2, sw - 1);
    sum = 0.0625f * src[max(sy - 2, 0) * sw + r];
    sum += 0.25f * src[max(sy - 1, 0) * sw + r];
    sum += 0.375f * src[min(sy, sh - 1) * sw + r];
    sum += 0.25f * src[min(sy + 1, sh - 1) * sw + r];
    sum += 0.0625f * src[min(sy + 2, sh - 1) * sw + r];
    buf[4 + threadIdx.x] = sum;
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    int t2 = threadIdx.x * 2;
    float s = 0.0625f * buf[2 + t2 - 2] + 0.25f * buf[2 + t2 - 1] + 0.375f * buf[2 + t2] + 0.25f * buf[2 + t2 + 1] + 0.0625f * buf[2 + t2 + 2];
    int dx = (blockIdx.x * 256 + t2) / 2;
    if (dx < dw) dst[y * dw + dx] = s;
  }
}

// 4. separable blur in one kernel: horizontal result to second tile, then vertical
#define SR 2
__global__ void blurBoth(const float *in, float *out, int w, int h) {
  __shared__ float a[16 + 2 * SR][16 + 2 * SR];
  __shared__ float b[16 + 2 * SR][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  for (int j = ty; j < 16 + 2 * SR; j += 16)
    for (int i = tx; i < 16 + 2 * SR; i += 16)
      a[j][i] = in[min(max((int)blockIdx.y * 16 + j - SR, 0), h - 1) * w + min(max((int)blockIdx.x * 16 + i - SR, 0), w - 1)];
  __syncthreads();
  for (int j = ty; j < 16 + 2 * SR; j += 16) {
    float s = 0.f;
    for (int k = 0; k <= 2 * SR; ++k) s += a[j][tx + k];
    b[j][tx] = s;
  }
  __syncthreads();
  float s = 0.f;
  for (int k = 0; k <= 2 * SR; ++k) s += b[ty + k][tx];
  if (x < w && y < h) out[y * w + x] = s / 25.f;
}

// 5. half precision stencil
__global__ void halfSmooth(const __half *in, __half *out, int n) {
  __shared__ __half s[256 + 2];
  int g = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x + 1] = g < n ? in[g] : __float2half(0.f);
  if (threadIdx.x == 0) s[0] = g > 0 ? in[g - 1] : __float2half(0.f);
  if (threadIdx.x == 255) s[257] = g + 1 < n ? in[g + 1] : __float2half(0.f);
  __syncthreads();
  if (g < n) out[g] = __hmul(__hadd(__hadd(s[threadIdx.x], s[threadIdx.x + 1]), s[threadIdx.x + 2]), __float2half(0.333f));
}

// 6. lattice-like: SU-ish staggered hop in 2D with complex struct, periodic
struct cplx { float re, im; };
__global__ void hop2d(const cplx *psi, cplx *chi, int LX, int LY, float mass) {
  __shared__ cplx s[8 + 2][32 + 2];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  s[ly][lx] = psi[y * LX + x];
  if (threadIdx.x == 0) s[ly][0] = psi[y * LX + (x + LX - 1) % LX];
  if (threadIdx.x == 31) s[ly][33] = psi[y * LX + (x + 1) % LX];
  if (threadIdx.y == 0) s[0][lx] = psi[((y + LY - 1) % LY) * LX + x];
  if (threadIdx.y == 7) s[9][lx] = psi[((y + 1) % LY) * LX + x];
  __syncthreads();
  cplx r;
  r.re = mass * s[ly][lx].re + s[ly][lx + 1].re - s[ly][lx - 1].re + s[ly + 1][lx].im - s[ly - 1][lx].im;
  r.im = mass * s[ly][lx].im + s[ly][lx + 1].im - s[ly][lx - 1].im - s[ly + 1][lx].re + s[ly - 1][lx].re;
  chi[y * LX + x] = r;
}

template <class T> T *mk(size_t n) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  if (sizeof(T) >= 4) for (size_t i = 0; i < n * (sizeof(T) / 4); ++i) ((float *)h)[i] = (float)((i * 7919u) % 251);
  else for (size_t i = 0; i < n * sizeof(T); ++i) ((uchar *)h)[i] = (i * 7919u) % 61;
  cudaMalloc(&d, n * sizeof(T));
  cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice);
  free(h);
  return d;
}
template <int R> void launchConv(const float *a, float *b, int w, int h) {
  dim3 block(32, 8);
  dim3 grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y);
  conv2d<float, R, 32, 8><<<grid, block>>>(a, b, w, h, w, w);
}
int main(int argc, char **argv) {
  int w = argc > 1 ? atoi(argv[1]) : 4096, h = argc > 2 ? atoi(argv[2]) : 4096;
  float *a = mk<float>(w * h), *b = mk<float>(w * h);
  uchar *ua = mk<uchar>(w * h), *ub = mk<uchar>(w * h);
  float hf[49];
  for (int i = 0; i < 49; ++i) hf[i] = 0.01f * i;
  CUDA_CALL(cudaMemcpyToSymbol(cFilter, hf, sizeof hf));
  launchConv<1>(a, b, w, h);
  launchConv<3>(a, b, w, h);
  conv2d<uchar, 2, 16, 16><<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(ua, ub, w, h, w, w);
  int C = 4, H = 56, W = 56, N = 2;
  float *x = mk<float>(N * C * H * W), *y = mk<float>(N * C * H * W), *wg = mk<float>(C * 9), *bi = mk<float>(C);
  depthwise3x3<<<dim3((W + 31) / 32, (H + 7) / 8, N * C), dim3(32, 8)>>>(x, wg, bi, y, C, H, W);
  pyrDown<<<dim3((w + 255) / 256, h / 2), 256>>>(a, w, h, b, w / 2, h / 2);
  blurBoth<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(a, b, w, h);
  __half *ha = mk<__half>(w * h), *hb = mk<__half>(w * h);
  halfSmooth<<<(w * h + 255) / 256, 256>>>(ha, hb, w * h);
  int LX = w / 32 * 32, LY = h / 8 * 8;
  cplx *p = mk<cplx>(LX * LY), *c = mk<cplx>(LX * LY);
  hop2d<<<dim3(LX / 32, LY / 8), dim3(32, 8)>>>(p, c, LX, LY, 0.1f);
  CUDA_CALL(cudaGetLastError());
  CUDA_CALL(cudaDeviceSynchronize());
  return 0;
}
