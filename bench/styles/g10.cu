// digital signal processing
#include "shown.h"
#include <math.h>

__device__ inline float2 cmul(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ inline float2 cadd(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ inline float2 csub(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }

// 512-point radix-2 FFT, one transform per block of 256 threads
#define FFT_N 512
#define FFT_LOG 9
__global__ void fft512(const float2 *in, float2 *out) {
  __shared__ float2 s[FFT_N];
  const int t = threadIdx.x;
  const size_t base = (size_t)blockIdx.x * FFT_N;
  for (int k = t; k < FFT_N; k += FFT_N / 2) s[__brev(k) >> (32 - FFT_LOG)] = in[base + k];
  __syncthreads();
  for (int len = 1; len < FFT_N; len <<= 1) {
    int j = t & (len - 1);
    int i0 = ((t & ~(len - 1)) << 1) + j;
    int i1 = i0 + len;
    float sn, cs;
    sincospif(-(float)j / len, &sn, &cs);
    float2 a = s[i0];
    float2 b = cmul(s[i1], make_float2(cs, sn));
    s[i0] = cadd(a, b);
    s[i1] = csub(a, b);
    __syncthreads();
  }
  for (int k = t; k < FFT_N; k += FFT_N / 2) out[base + k] = s[k];
}

// FIR filter, taps in constant memory, history halo on the left
#define TAPS 33
__constant__ float c_taps[TAPS];
__global__ void fir_filter(const float *__restrict__ x, float *__restrict__ y, int n) {
  extern __shared__ float sx[];
  const int tid = threadIdx.x;
  const int start = blockIdx.x * blockDim.x;
  for (int i = tid; i < (int)blockDim.x + TAPS - 1; i += blockDim.x) {
    int g = start + i - (TAPS - 1);
    sx[i] = (g >= 0 && g < n) ? x[g] : 0.0f;
  }
  __syncthreads();
  int g = start + tid;
  if (g >= n) return;
  float acc = 0.0f;
#pragma unroll
  for (int k = 0; k < TAPS; ++k) acc += c_taps[k] * sx[tid + TAPS - 1 - k];
  y[g] = acc;
}

// cascaded biquads, one channel per thread, state in private arrays
#define STAGES 4
__global__ void iir_biquads(const float *x, float *y, const float *coef, int nch, int len) {
  __shared__ float sc[STAGES * 5];
  if (threadIdx.x < STAGES * 5) sc[threadIdx.x] = coef[threadIdx.x] * 0.01f;
  __syncthreads();
  int ch = blockIdx.x * blockDim.x + threadIdx.x;
  if (ch >= nch) return;
  float z1[STAGES], z2[STAGES];
  for (int s = 0; s < STAGES; ++s) z1[s] = z2[s] = 0.f;
  for (int t = 0; t < len; ++t) {
    float v = x[(size_t)t * nch + ch];
    for (int s = 0; s < STAGES; ++s) {
      const float *c = sc + 5 * s;
      float o = c[0] * v + z1[s] + v;
      z1[s] = c[1] * v - c[3] * o + z2[s];
      z2[s] = c[2] * v - c[4] * o;
      v = o;
    }
    y[(size_t)t * nch + ch] = v;
  }
}

// short-lag autocorrelation per frame
#define FRAME 256
#define LAGS 16
__global__ void autocorr_frame(const float *sig, float *r) {
  __shared__ float f[FRAME + LAGS];
  __shared__ float red[FRAME];
  const int t = threadIdx.x;
  f[t] = sig[(size_t)blockIdx.x * FRAME + t] - 6.f;
  if (t < LAGS) f[FRAME + t] = 0.f;
  __syncthreads();
  for (int lag = 0; lag < LAGS; ++lag) {
    red[t] = f[t] * f[t + lag];
    __syncthreads();
    for (int s = FRAME / 2; s > 0; s >>= 1) {
      if (t < s) red[t] += red[t + s];
      __syncthreads();
    }
    if (t == 0) r[(size_t)blockIdx.x * LAGS + lag] = red[0];
    __syncthreads();
  }
}

// 8x8 DCT, four blocks side by side per thread block (8 x 8 x 4)
__constant__ float c_dct[64];
__global__ void dct8x8(const float *src, float *dst, int stride) {
  __shared__ float blk[4][8][8];
  __shared__ float tmp[4][8][8];
  const int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
  const int x = (blockIdx.x * 4 + tz) * 8 + tx, y = blockIdx.y * 8 + ty;
  blk[tz][ty][tx] = src[(size_t)y * stride + x] - 6.f;
  __syncthreads();
  float a = 0.f;
  for (int i = 0; i < 8; ++i) a += c_dct[ty * 8 + i] * blk[tz][i][tx];
  tmp[tz][ty][tx] = a;
  __syncthreads();
  a = 0.f;
  for (int i = 0; i < 8; ++i) a += tmp[tz][ty][i] * c_dct[tx * 8 + i];
  dst[(size_t)y * stride + x] = a;
}

// delay-and-sum beamformer, window of each element's trace staged
#define ELEMS 32
#define MAXDELAY 32
__global__ void delay_and_sum(const float *rf, const int *delay, float *bf, int nsamp, int nbeam) {
  __shared__ float tr[128 + MAXDELAY];
  const int s0 = blockIdx.x * 128;
  const int beam = blockIdx.y;
  float sum = 0.f;
  for (int e = 0; e < ELEMS; ++e) {
    for (int i = threadIdx.x; i < 128 + MAXDELAY; i += 128) tr[i] = s0 + i < nsamp ? rf[(size_t)e * nsamp + s0 + i] : 0.f;
    __syncthreads();
    sum += tr[threadIdx.x + ((delay[beam * ELEMS + e] * 2) & (MAXDELAY - 1))];
    __syncthreads();
  }
  if (s0 + threadIdx.x < nsamp) bf[(size_t)beam * nsamp + s0 + threadIdx.x] = sum / ELEMS;
}

// polyphase decimation by 4
template <int D, int T, int B>
__global__ void decimate(const float *__restrict__ in, float *__restrict__ out, const float *__restrict__ h, int nout) {
  __shared__ float s[B * D + T];
  __shared__ float sh[T];
  const int t = threadIdx.x;
  const int o0 = blockIdx.x * B;
  if (t < T) sh[t] = h[t];
  for (int i = t; i < B * D + T; i += B) s[i] = in[(size_t)o0 * D + i];
  __syncthreads();
  if (o0 + t < nout) {
    float a = 0.f;
    for (int k = 0; k < T; ++k) a += sh[k] * s[t * D + k];
    out[o0 + t] = a;
  }
}

int main() {
  {
    const int nb = 8192;
    size_t n = (size_t)nb * FFT_N;
    float *x = mk<float>(2 * n), *y = mk<float>(2 * n);
    fft512<<<nb, FFT_N / 2>>>((const float2 *)x, (float2 *)y);
    show("fft512", y, n * 8);
  }
  {
    const int n = (1 << 24) - 5;
    float h[TAPS];
    for (int i = 0; i < TAPS; ++i) h[i] = (float)((i * 5) % 7) / 32.f;
    cudaMemcpyToSymbol(c_taps, h, sizeof(h));
    float *x = mk<float>(n), *y = mk<float>(n);
    const int threads = 256;
    fir_filter<<<(n + threads - 1) / threads, threads, (threads + TAPS - 1) * sizeof(float)>>>(x, y, n);
    show("fir_filter", y, (size_t)n * 4);
  }
  {
    const int nch = 1 << 15, len = 256;
    float *x = mk<float>((size_t)nch * len), *y = mk<float>((size_t)nch * len), *c = mk<float>(STAGES * 5);
    iir_biquads<<<nch / 64, 64>>>(x, y, c, nch, len);
    show("iir_biquads", y, (size_t)nch * len * 4);
  }
  {
    const int nf = 16384;
    float *x = mk<float>((size_t)nf * FRAME), *r = mk<float>(nf * LAGS);
    autocorr_frame<<<nf, FRAME>>>(x, r);
    show("autocorr_frame", r, nf * LAGS * 4);
  }
  {
    const int w = 4096, h = 2048;
    float c[64];
    for (int k = 0; k < 8; ++k)
      for (int i = 0; i < 8; ++i) c[k * 8 + i] = (float)(sqrt((k ? 2.0 : 1.0) / 8.0) * cos((2 * i + 1) * k * 3.14159265358979 / 16.0));
    cudaMemcpyToSymbol(c_dct, c, sizeof(c));
    float *s = mk<float>((size_t)w * h), *d = mk<float>((size_t)w * h);
    dct8x8<<<dim3(w / 32, h / 8), dim3(8, 8, 4)>>>(s, d, w);
    show("dct8x8", d, (size_t)w * h * 4);
  }
  {
    const int ns = 8192, nb = 128;
    float *rf = mk<float>((size_t)ns * ELEMS), *bf = mk<float>((size_t)ns * nb);
    int *dl = mk<int>(nb * ELEMS);
    delay_and_sum<<<dim3((ns + 127) / 128, nb), 128>>>(rf, dl, bf, ns, nb);
    show("delay_and_sum", bf, (size_t)ns * nb * 4);
  }
  {
    constexpr int D = 4, T = 32, B = 128;
    const int nout = 1 << 21, nblk = (nout + B - 1) / B;
    float *x = mk<float>((size_t)nblk * B * D + T), *y = mk<float>(nout), *h = mk<float>(T);
    decimate<D, T, B><<<nblk, B>>>(x, y, h, nout);
    show("decimate", y, (size_t)nout * 4);
  }
  return 0;
}
