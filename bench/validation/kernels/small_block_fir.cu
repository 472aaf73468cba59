// Filters of one line with blocks of 64 and of 32 threads.
#include "validation.cuh"

#define NTAPS 17
#define HALF (NTAPS / 2)

__constant__ float d_taps[NTAPS];

// centred taps, zero outside of the signal
__global__ void conv1d(const float *x, float *y, int len) {
  __shared__ float s_x[64 + NTAPS - 1];
  int i = blockIdx.x * 64 + threadIdx.x;

  for (int k = threadIdx.x; k < 64 + NTAPS - 1; k += 64) {
    int src = blockIdx.x * 64 + k - HALF;
    s_x[k] = (src >= 0 && src < len) ? x[src] : 0.0f;
  }
  __syncthreads();

  if (i >= len)
    return;
  float acc = 0.0f;
#pragma unroll
  for (int k = 0; k < NTAPS; k++)
    acc += d_taps[k] * s_x[threadIdx.x + k];
  y[i] = acc;
}

// causal taps read from memory, a warp per block; the signal repeats its first
// sample to the left
__global__ void fir_causal(const double *sig, const double *h, double *out,
                           int n, int order) {
  extern __shared__ double win[];
  const int lane = threadIdx.x;
  const int at = blockIdx.x * blockDim.x + lane;
  win[order + lane] = at < n ? sig[at] : 0.0;
  if (lane < order) {
    int left = at - order;
    win[lane] = sig[left < 0 ? 0 : left];
  }
  __syncthreads();
  if (at < n) {
    double v = h[0] * win[order + lane];
    for (int k = 1; k <= order; ++k)
      v += h[k] * win[order + lane - k];
    out[at] = v;
  }
}

void convolve(const float *x, float *y, int n) {
  conv1d<<<(n + 63) / 64, 64>>>(x, y, n);
}
void causal(const double *sig, const double *h, double *out, int n) {
  const int order = 7;
  fir_causal<<<(n + 31) / 32, 32, (32 + order) * sizeof(double)>>>(sig, h, out,
                                                                  n, order);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  float taps[NTAPS];
  for (int k = 0; k < NTAPS; k++)
    taps[k] = (1 + k) * (NTAPS - k) / 1024.0f;
  check(cudaMemcpyToSymbol(d_taps, taps, sizeof taps));
  double *h = filled<double>(8, 350);
  for (int n : sizes({1 << 25, 10000019, 48000}, 333)) {
    float *x = filled<float>(n, 351), *y = zeros<float>(n);
    double *sig = filled<double>(n, 352), *out = zeros<double>(n);
    measure("conv1d", text(n), [&] { convolve(x, y, n); }, {result(y, n)});
    measure("fir_causal", text(n), [&] { causal(sig, h, out, n); },
            {result(out, n)});
    release(x, y, sig, out);
  }
  release(h);
}
