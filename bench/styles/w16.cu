// small transforms
#include "h.h"
#include <cstdint>
#include <cmath>

// radix 2 FFT of 256 points, one block of 128 threads each, bit reversed input
__device__ __forceinline__ unsigned rev8(unsigned i) { return __brev(i) >> 24; }

__global__ void fft256_dit(const float2 *in, float2 *out, const float2 *tw) {
  __shared__ float2 s[256];
  const unsigned t = threadIdx.x;
  const float2 *src = in + blockIdx.x * 256;
  s[t] = src[rev8(t)];
  s[t + 128] = src[rev8(t + 128)];
  __syncthreads();
  for (unsigned half = 1; half < 256; half <<= 1) {
    unsigned k = t & (half - 1);
    unsigned i0 = ((t - k) << 1) + k, i1 = i0 + half;
    float2 w = tw[k * (128 / half)];
    float2 a = s[i0], b = s[i1];
    float2 c = make_float2(b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x);
    s[i0] = make_float2(a.x + c.x, a.y + c.y);
    s[i1] = make_float2(a.x - c.x, a.y - c.y);
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = s[t];
  out[blockIdx.x * 256 + t + 128] = s[t + 128];
}

// Walsh-Hadamard of 1024 values; 256 threads, two butterflies a step
__global__ void fwht1024(int *data) {
  extern __shared__ int sh[];
  int *d = data + (size_t)blockIdx.x * 1024;
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) sh[i] = d[i];
  for (int stride = 512; stride >= 1; stride >>= 1) {
    __syncthreads();
    for (int p = threadIdx.x; p < 512; p += blockDim.x) {
      int lo = p & (stride - 1);
      int i = ((p - lo) << 1) + lo;
      int a = sh[i], b = sh[i + stride];
      sh[i] = a + b;
      sh[i + stride] = a - b;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) d[i] = sh[i];
}

// 8x8 DCT of blocks of an image: C * X * C^T, 4 blocks of 8x8 along x a thread block
__global__ void dct8x8_naive(const float *img, float *coef, const float *C, int width) {
  __shared__ float X[8][32];
  __shared__ float Y[8][32];
  __shared__ float c[64];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int b = tx & ~7, u = tx & 7;
  const size_t g = (size_t)(blockIdx.y * 8 + ty) * width + blockIdx.x * 32 + tx;
  X[ty][tx] = img[g] - 6.f;
  if (tx < 8) c[ty * 8 + tx] = C[ty * 8 + tx];
  __syncthreads();
  float a = 0.f;
  for (int k = 0; k < 8; ++k) a += c[ty * 8 + k] * X[k][tx];
  Y[ty][tx] = a;
  __syncthreads();
  a = 0.f;
  for (int k = 0; k < 8; ++k) a += Y[ty][b + k] * c[u * 8 + k];
  coef[g] = a;
}

template <class V> void hashOut(const char *n, V *d, size_t c) {
  size_t by = c * sizeof(V);
  unsigned char *h = (unsigned char *)malloc(by);
  cudaMemcpy(h, d, by, cudaMemcpyDeviceToHost);
  uint64_t f = 14695981039346656037ull;
  for (size_t i = 0; i < by; i++) f = (f ^ h[i]) * 1099511628211ull;
  printf("%s %016lx\n", n, f);
  free(h);
}

int main() {
  const int batch = 20000;
  float2 *x = (float2 *)mk<float>((size_t)batch * 512), *y, htw[128], *tw;
  for (int i = 0; i < 128; i++) htw[i] = make_float2(cosf(-2 * 3.14159265f * i / 256), sinf(-2 * 3.14159265f * i / 256));
  cudaMalloc(&y, (size_t)batch * 256 * sizeof(float2));
  cudaMalloc(&tw, sizeof htw);
  cudaMemcpy(tw, htw, sizeof htw, cudaMemcpyHostToDevice);
  fft256_dit<<<batch, 128>>>(x, y, tw);
  const int wb = 6000;
  int *w = mk<int>((size_t)wb * 1024);
  fwht1024<<<wb, 256, 1024 * sizeof(int)>>>(w);
  const int W = 2048, H = 2048;
  float *im = mk<float>(W * H), *co, hc[64], *dc;
  for (int u = 0; u < 8; u++)
    for (int k = 0; k < 8; k++) hc[u * 8 + k] = (u ? 0.5f : 0.35355339f) * cosf((2 * k + 1) * u * 3.14159265f / 16);
  cudaMalloc(&co, W * H * 4);
  cudaMalloc(&dc, sizeof hc);
  cudaMemcpy(dc, hc, sizeof hc, cudaMemcpyHostToDevice);
  dct8x8_naive<<<dim3(W / 32, H / 8), dim3(32, 8)>>>(im, co, dc, W);
  cudaDeviceSynchronize();
  hashOut("fft", y, (size_t)batch * 256);
  hashOut("fwht", w, (size_t)wb * 1024);
  hashOut("dct", co, W * H);
}
