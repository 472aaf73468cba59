// h13: signal processing and transforms
#include "shown.h"
#include <cmath>
#include <vector>

#define CHECK_RANGE(i, n) if ((i) >= (n)) return

// ------------------------------------------------ FIR, taps constant, input tile + history
#define MAX_TAPS 64
__constant__ float taps[MAX_TAPS];
__global__ void fir_tile(float *out, const float *in, int n, int nt)
{
  extern __shared__ float s[];
  int base = blockIdx.x * blockDim.x;
  for (int i = threadIdx.x; i < blockDim.x + nt - 1; i += blockDim.x) {
    int src = base + i - (nt - 1);
    s[i] = (src < 0 || src >= n) ? 0.f : in[src];
  }
  __syncthreads();
  int gid = base + threadIdx.x;
  CHECK_RANGE(gid, n);
  float acc = 0.f;
  for (int k = 0; k < nt; k++) acc += taps[k] * s[threadIdx.x + nt - 1 - k];
  out[gid] = acc;
}

// ------------------------------------------------ polyphase decimator
template <int D, int L>
__global__ void decimate(const float2 *x, const float *h, float2 *y, unsigned nin, unsigned nout)
{
  const unsigned B = 128;
  __shared__ float2 seg[B * D + L - D];
  __shared__ float hs[L];
  for (unsigned i = threadIdx.x; i < L; i += B) hs[i] = h[i];
  const unsigned start = blockIdx.x * B * D;
  for (unsigned i = threadIdx.x; i < B * D + L - D; i += B) {
    unsigned g = start + i;
    seg[i] = g < nin ? x[g] : make_float2(0.f, 0.f);
  }
  __syncthreads();
  unsigned o = blockIdx.x * B + threadIdx.x;
  if (o < nout) {
    float re = 0, im = 0;
#pragma unroll 4
    for (int k = 0; k < L; k++) {
      float2 v = seg[threadIdx.x * D + k];
      re += hs[k] * v.x;
      im += hs[k] * v.y;
    }
    y[o] = make_float2(re, im);
  }
}

// ------------------------------------------------ CDF 9/7 lifting on rows held in shared
__device__ inline int refl(int i, int n) { return i < 0 ? -i : (i >= n ? 2 * (n - 1) - i : i); }
__global__ void dwt97_rows(const float *src, float *dst, int width)
{
  extern __shared__ float row[];
  const float *in = src + (size_t)blockIdx.x * width;
  float *o = dst + (size_t)blockIdx.x * width;
  for (int i = threadIdx.x; i < width; i += blockDim.x) row[i] = in[i];
  __syncthreads();
  const float coef[4] = {-1.586134342f, -0.05298011854f, 0.8829110762f, 0.4435068522f};
  for (int st = 0; st < 4; st++) {
    int odd = !(st & 1);
    for (int i = 2 * threadIdx.x + odd; i < width; i += 2 * blockDim.x)
      row[i] += coef[st] * (row[refl(i - 1, width)] + row[refl(i + 1, width)]);
    __syncthreads();
  }
  int half = (width + 1) / 2;
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    o[(i & 1) ? half + i / 2 : i / 2] = row[i] * ((i & 1) ? 1.149604398f : 0.8698644523f);
}

// ------------------------------------------------ radix-2 FFT of 512 points in shared, one per block
template <unsigned LOGN>
__global__ void fft_shared(float2 *data)
{
  constexpr unsigned N = 1u << LOGN;
  __shared__ float re[N], im[N];
  float2 *d = data + (size_t)blockIdx.x * N;
  for (unsigned i = threadIdx.x; i < N; i += N / 2) {
    float2 v = d[i];
    unsigned r = __brev(i) >> (32 - LOGN);
    re[r] = v.x;
    im[r] = v.y;
  }
  for (unsigned half = 1; half < N; half *= 2) {
    __syncthreads();
    unsigned k = threadIdx.x & (half - 1);
    unsigned a = ((threadIdx.x & ~(half - 1)) << 1) + k, b = a + half;
    float sn, cs;
    sincospif(-(float)k / (float)half, &sn, &cs);
    float tr = re[b] * cs - im[b] * sn, ti = re[b] * sn + im[b] * cs;
    float ar = re[a], ai = im[a];
    re[a] = ar + tr; im[a] = ai + ti;
    re[b] = ar - tr; im[b] = ai - ti;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < N; i += N / 2) d[i] = make_float2(re[i], im[i]);
}

// ------------------------------------------------ 8x8 DCT, several blocks per CTA, column then row
#define C_a 1.387039845322148f
#define C_b 1.306562964876377f
#define C_c 1.175875602419359f
#define C_d 0.785694958387102f
#define C_e 0.541196100146197f
#define C_f 0.275899379282943f
#define C_norm 0.3535533905932737f
__device__ void CUDAsubroutineInplaceDCTvector(float *Vect0, int Step)
{
  float *Vect1 = Vect0 + Step, *Vect2 = Vect1 + Step, *Vect3 = Vect2 + Step, *Vect4 = Vect3 + Step;
  float *Vect5 = Vect4 + Step, *Vect6 = Vect5 + Step, *Vect7 = Vect6 + Step;
  float X07P = *Vect0 + *Vect7, X16P = *Vect1 + *Vect6, X25P = *Vect2 + *Vect5, X34P = *Vect3 + *Vect4;
  float X07M = *Vect0 - *Vect7, X61M = *Vect6 - *Vect1, X25M = *Vect2 - *Vect5, X43M = *Vect4 - *Vect3;
  float X07P34PP = X07P + X34P, X07P34PM = X07P - X34P, X16P25PP = X16P + X25P, X16P25PM = X16P - X25P;
  *Vect0 = C_norm * (X07P34PP + X16P25PP);
  *Vect2 = C_norm * (C_b * X07P34PM + C_e * X16P25PM);
  *Vect4 = C_norm * (X07P34PP - X16P25PP);
  *Vect6 = C_norm * (C_e * X07P34PM - C_b * X16P25PM);
  *Vect1 = C_norm * (C_a * X07M - C_c * X61M + C_d * X25M - C_f * X43M);
  *Vect3 = C_norm * (C_c * X07M + C_f * X61M - C_a * X25M + C_d * X43M);
  *Vect5 = C_norm * (C_d * X07M + C_a * X61M + C_f * X25M - C_c * X43M);
  *Vect7 = C_norm * (C_f * X07M + C_d * X61M + C_c * X25M + C_a * X43M);
}
#define KER2_STRIDE 33
__global__ void dct8x8_tiles(float *dst, const float *src, int stride)
{
  __shared__ float block[16 * KER2_STRIDE];
  // (8, 4, 2): x = column in block, y = block column, z = block row
  int offX = threadIdx.y * 8 + threadIdx.x;
  int offY = threadIdx.z * 8;
  int gx = blockIdx.x * 32 + offX, gy = blockIdx.y * 16 + offY;
  src += gy * stride + gx;
  dst += gy * stride + gx;
  float *bl = block + offY * KER2_STRIDE + offX;
  for (int i = 0; i < 8; i++) bl[i * KER2_STRIDE] = src[i * stride];
  __syncthreads();
  CUDAsubroutineInplaceDCTvector(block + (offY + threadIdx.x) * KER2_STRIDE + threadIdx.y * 8, 1);
  __syncthreads();
  CUDAsubroutineInplaceDCTvector(bl, KER2_STRIDE);
  __syncthreads();
  for (int i = 0; i < 8; i++) dst[i * stride] = bl[i * KER2_STRIDE];
}

// ------------------------------------------------ fast Walsh transform, radix-4 in shared (SDK)
__global__ void fwtBatch1Kernel(float *d_Output, const float *d_Input, int log2N)
{
  const int N = 1 << log2N;
  const int base = blockIdx.x << log2N;
  extern __shared__ float s_data[];
  const float *d_Src = d_Input + base;
  float *d_Dst = d_Output + base;
  for (int pos = threadIdx.x; pos < N; pos += blockDim.x) s_data[pos] = d_Src[pos];
  const int pos = threadIdx.x;
  for (int stride = N >> 2; stride > 0; stride >>= 2) {
    int lo = pos & (stride - 1);
    int i0 = ((pos - lo) << 2) + lo;
    int i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
    __syncthreads();
    float D0 = s_data[i0], D1 = s_data[i1], D2 = s_data[i2], D3 = s_data[i3], T;
    T = D0; D0 = D0 + D2; D2 = T - D2;
    T = D1; D1 = D1 + D3; D3 = T - D3;
    T = D0; s_data[i0] = D0 + D1; s_data[i1] = T - D1;
    T = D2; s_data[i2] = D2 + D3; s_data[i3] = T - D3;
  }
  if (log2N & 1) {
    __syncthreads();
    for (int p = threadIdx.x; p < N / 2; p += blockDim.x) {
      int i0 = p << 1, i1 = i0 + 1;
      float D0 = s_data[i0], D1 = s_data[i1];
      s_data[i0] = D0 + D1;
      s_data[i1] = D0 - D1;
    }
  }
  __syncthreads();
  for (int p = threadIdx.x; p < N; p += blockDim.x) d_Dst[p] = s_data[p];
}

// ------------------------------------------------ running median by per-thread sorted ring
template <int W>
__global__ void running_median(const short *in, short *out, int n, int per)
{
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  long long b = (long long)t * per;
  if (b >= n) return;
  short ring[W], sorted[W];
  for (int k = 0; k < W; k++) {
    long long g = b - W / 2 + k;
    if (g < 0) g = 0;
    if (g > n - 1) g = n - 1;
    short v = in[g];
    ring[k] = v;
    int j = k;
    for (; j > 0 && sorted[j - 1] > v; j--) sorted[j] = sorted[j - 1];
    sorted[j] = v;
  }
  int head = 0;
  for (int i = 0; i < per && b + i < n; i++) {
    out[b + i] = sorted[W / 2];
    long long g = b + i + W / 2 + 1;
    if (g > n - 1) g = n - 1;
    short nv = in[g], ov = ring[head];
    ring[head] = nv;
    head = head + 1 == W ? 0 : head + 1;
    int j = 0;
    while (sorted[j] != ov) j++;
    for (; j + 1 < W && sorted[j + 1] < nv; j++) sorted[j] = sorted[j + 1];
    for (; j > 0 && sorted[j - 1] > nv; j--) sorted[j] = sorted[j - 1];
    sorted[j] = nv;
  }
}

int main()
{
  float h[MAX_TAPS];
  for (int i = 0; i < MAX_TAPS; i++) h[i] = sinf(i * 0.3f) / (i + 1);
  cudaMemcpyToSymbol(taps, h, sizeof h);
  const int n = (1 << 23) + 117;
  float *x = mk<float>(n), *y = mk<float>(n);
  fir_tile<<<(n + 255) / 256, 256, (256 + 50) * sizeof(float)>>>(y, x, n, 51);
  show("fir_tile", y, 4ull * n);

  {
    unsigned nin = (1u << 22) + 31, nout = (nin - 48) / 5 + 1;
    float2 *a = (float2 *)mk<float>(2 * nin), *b = (float2 *)mk<float>(2 * nout);
    decimate<5, 48><<<(nout + 127) / 128, 128>>>(a, x, b, nin, nout);
    show("decimate", b, 8ull * nout);
  }
  {
    int w = 3999, rows = 2000;
    float *a = mk<float>(w * rows), *b = mk<float>(w * rows);
    dwt97_rows<<<rows, 256, w * sizeof(float)>>>(a, b, w);
    show("dwt97_rows", b, 4ull * w * rows);
  }
  {
    int nf = 16000;
    float2 *a = (float2 *)mk<float>(1024ull * nf);
    fft_shared<9><<<nf, 256>>>(a);
    show("fft_shared", a, 4096ull * nf);
  }
  {
    int W = 3008, H = 2000;
    float *a = mk<float>(W * H), *b = mk<float>(W * H);
    dct8x8_tiles<<<dim3(W / 32, H / 16), dim3(8, 4, 2)>>>(b, a, W);
    show("dct8x8_tiles", b, 4ull * W * H);
  }
  {
    int lg = 11, nb = 4000;
    float *a = mk<float>((size_t)nb << lg), *b = mk<float>((size_t)nb << lg);
    fwtBatch1Kernel<<<nb, (1 << lg) / 4, sizeof(float) << lg>>>(b, a, lg);
    show("fwtBatch1Kernel", b, ((size_t)nb << lg) * 4);
  }
  {
    int m = 4000037, per = 64;
    short *a = mk<short>(m), *b = mk<short>(m);
    std::vector<short> v(m);
    unsigned s = 5;
    for (auto &q : v) { s = s * 1664525u + 1013904223u; q = (short)(s >> 18); }
    cudaMemcpy(a, v.data(), 2ull * m, cudaMemcpyHostToDevice);
    int th = (m + per - 1) / per;
    running_median<21><<<(th + 127) / 128, 128>>>(a, b, m, per);
    show("running_median", b, 2ull * m);
  }
  return 0;
}
