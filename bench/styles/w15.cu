// SDR front-end kernels
#include "h.h"
#include <cstdint>
#include <cuComplex.h>

#define FIR_TAPS 32
#define THREADS_PER_BLOCK 256

__constant__ float fir_taps[FIR_TAPS];

__global__ void firComplex(const cuFloatComplex *in, cuFloatComplex *out, int n) {
  __shared__ cuFloatComplex buf[THREADS_PER_BLOCK + FIR_TAPS - 1];
  const int start = blockIdx.x * THREADS_PER_BLOCK;
  for (int i = threadIdx.x; i < THREADS_PER_BLOCK + FIR_TAPS - 1; i += THREADS_PER_BLOCK) {
    int s = start + i - (FIR_TAPS - 1);
    buf[i] = (s >= 0 && s < n) ? in[s] : make_cuFloatComplex(0.f, 0.f);
  }
  __syncthreads();
  int o = start + threadIdx.x;
  if (o < n) {
    float re = 0.f, im = 0.f;
#pragma unroll
    for (int t = 0; t < FIR_TAPS; ++t) {
      cuFloatComplex v = buf[threadIdx.x + FIR_TAPS - 1 - t];
      re += fir_taps[t] * v.x;
      im += fir_taps[t] * v.y;
    }
    out[o] = make_cuFloatComplex(re, im);
  }
}

// decimating filter: output i uses inputs i*DEC .. i*DEC+ntaps-1
template <unsigned DEC>
__global__ void decimate(const float *__restrict__ x, const float *__restrict__ taps, float *__restrict__ y, unsigned nOut,
                         unsigned nIn, unsigned ntaps) {
  extern __shared__ float xs[];
  const unsigned o0 = blockIdx.x * blockDim.x;
  const unsigned span = blockDim.x * DEC + ntaps;
  for (unsigned i = threadIdx.x; i < span; i += blockDim.x) {
    const unsigned g = o0 * DEC + i;
    xs[i] = g < nIn ? x[g] : 0.f;
  }
  __syncthreads();
  const unsigned o = o0 + threadIdx.x;
  if (o >= nOut) return;
  float a = 0.f;
  for (unsigned k = 0; k < ntaps; ++k) a = fmaf(taps[k], xs[threadIdx.x * DEC + k], a);
  y[o] = a;
}

// sliding maximum of |x| and mean, 16 bit samples
__global__ void envelope16(const int16_t *sig, int16_t *mx, float *mean, int n) {
  constexpr int HALF = 10;
  __shared__ int16_t w[512 + 2 * HALF];
  const int base = (int)(blockIdx.x * blockDim.x) - HALF;
  for (int i = threadIdx.x; i < 512 + 2 * HALF; i += 512) {
    const int g = min(max(base + i, 0), n - 1);
    w[i] = sig[g];
  }
  __syncthreads();
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= n) return;
  int m = 0, s = 0;
  for (int k = 0; k <= 2 * HALF; ++k) {
    const int v = w[threadIdx.x + k];
    m = max(m, abs(v));
    s += v;
  }
  mx[g] = (int16_t)m;
  mean[g] = s / (2 * HALF + 1.0f);
}

// in-block multi-level Haar transform of 512 samples
__global__ void haar512(const float *src, float *dst, int levels) {
  __shared__ float a[512];
  const int t = threadIdx.x;
  const size_t off = (size_t)blockIdx.x * 512;
  a[t] = src[off + t];
  a[t + 256] = src[off + t + 256];
  __syncthreads();
  int len = 512;
  for (int l = 0; l < levels; ++l) {
    len >>= 1;
    float lo = 0.f, hi = 0.f;
    if (t < len) {
      lo = (a[2 * t] + a[2 * t + 1]) * 0.70710678f;
      hi = (a[2 * t] - a[2 * t + 1]) * 0.70710678f;
    }
    __syncthreads();
    if (t < len) {
      a[t] = lo;
      a[len + t] = hi;
    }
    __syncthreads();
  }
  dst[off + t] = a[t];
  dst[off + t + 256] = a[t + 256];
}

static void h64(const char *n, const void *d, size_t by) {
  char *h = (char *)malloc(by);
  cudaMemcpy(h, d, by, cudaMemcpyDeviceToHost);
  uint64_t z = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < by; ++i) z = (z ^ (uint8_t)h[i]) * 0x100000001b3ull;
  printf("%s,%016lx\n", n, z);
  free(h);
}

int main() {
  float ht[FIR_TAPS];
  for (int i = 0; i < FIR_TAPS; ++i) ht[i] = (i % 5 - 2) * 0.125f + i * 0.01f;
  cudaMemcpyToSymbol(fir_taps, ht, sizeof ht);
  const int n = 5000000;
  cuFloatComplex *x = (cuFloatComplex *)mk<float>(2 * n), *y;
  cudaMalloc(&y, n * sizeof(*y));
  firComplex<<<(n + 255) / 256, 256>>>(x, y, n);
  const unsigned nin = 8000000, taps = 48, nout = (nin - taps) / 4;
  float *dx = mk<float>(nin), *tp = mk<float>(taps), *dy;
  cudaMalloc(&dy, nout * 4);
  decimate<4><<<(nout + 127) / 128, 128, (128 * 4 + taps) * sizeof(float)>>>(dx, tp, dy, nout, nin, taps);
  const int ns = 6000001;
  int16_t *sg = mk<int16_t>(ns), *mx;
  float *mn;
  cudaMalloc(&mx, ns * 2);
  cudaMalloc(&mn, ns * 4);
  envelope16<<<(ns + 511) / 512, 512>>>(sg, mx, mn, ns);
  const int blocks = 16000;
  float *hs = mk<float>((size_t)blocks * 512), *hd;
  cudaMalloc(&hd, (size_t)blocks * 512 * 4);
  haar512<<<blocks, 256>>>(hs, hd, 5);
  cudaDeviceSynchronize();
  h64("fir", y, n * sizeof(*y));
  h64("dec", dy, nout * 4);
  h64("max", mx, ns * 2);
  h64("mean", mn, ns * 4);
  h64("haar", hd, (size_t)blocks * 512 * 4);
}
