// Fast Walsh-Hadamard transform of vectors of 1024, and radix-2 FFT of 512 points.
#include "bench.h"
#include <cmath>

__global__ void walshHadamard(float *data, float scale) {
  __shared__ float s[1024];
  float *v = data + (size_t)blockIdx.x * 1024;
  for (int i = threadIdx.x; i < 1024; i += 512)
    s[i] = v[i];
  for (int h = 1; h < 1024; h <<= 1) {
    __syncthreads();
    int lo = threadIdx.x & (h - 1);
    int i0 = ((threadIdx.x - lo) << 1) + lo;
    int i1 = i0 + h;
    float a = s[i0], b = s[i1];
    s[i0] = a + b;
    s[i1] = a - b;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 1024; i += 512)
    v[i] = scale * s[i];
}

#define FFT_N 512
#define FFT_LOG 9

// decimation in time; input is put in bit-reversed order while it is loaded
__global__ void fftRadix2(const float2 *in, float2 *out, const float2 *twiddle) {
  __shared__ float re[FFT_N];
  __shared__ float im[FFT_N];
  const int t = threadIdx.x;
  const size_t base = (size_t)blockIdx.x * FFT_N;
  for (int k = t; k < FFT_N; k += FFT_N / 2) {
    float2 v = in[base + k];
    int r = __brev(k) >> (32 - FFT_LOG);
    re[r] = v.x;
    im[r] = v.y;
  }
  __syncthreads();
  for (int len = 1; len < FFT_N; len *= 2) {
    int j = t & (len - 1);
    int a = 2 * (t - j) + j;
    int b = a + len;
    float2 w = twiddle[j * (FFT_N / 2 / len)];
    float xr = re[b] * w.x - im[b] * w.y;
    float xi = re[b] * w.y + im[b] * w.x;
    float ar = re[a], ai = im[a];
    re[a] = ar + xr;
    im[a] = ai + xi;
    re[b] = ar - xr;
    im[b] = ai - xi;
    __syncthreads();
  }
  for (int k = t; k < FFT_N; k += FFT_N / 2)
    out[base + k] = make_float2(re[k], im[k]);
}

int main() {
  const size_t n = 1 << 24;
  std::vector<float> h = randomFloats(n, 111, -1, 1);
  float *d = toDevice(h);
  const int vectors = n / 1024;
  float ms = timeMin([&] { walshHadamard<<<vectors, 512>>>(d, 1.0f / 32); });
  CUDA_CHECK(cudaMemcpy(d, h.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  walshHadamard<<<vectors, 512>>>(d, 1.0f / 32);
  printTime("walshHadamard", ms);
  printHash("walshHadamard", d, n);

  std::vector<float2> tw(FFT_N / 2);
  for (int i = 0; i < FFT_N / 2; ++i)
    tw[i] = make_float2((float)cos(-2 * M_PI * i / FFT_N), (float)sin(-2 * M_PI * i / FFT_N));
  float2 *dtw = toDevice(tw);
  float2 *out = deviceAlloc<float2>(n / 2);
  const unsigned ffts = n / 2 / FFT_N;
  printTime("fftRadix2", timeMin([&] { fftRadix2<<<ffts, FFT_N / 2>>>((const float2 *)d, out, dtw); }));
  printHash("fftRadix2", out, n / 2);
}
