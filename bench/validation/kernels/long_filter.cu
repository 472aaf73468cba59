// Direct convolution with a long filter: piece after piece of signal and filter
// is staged.
#include "validation.cuh"

#define P 128

__global__ void long_convolution(const float *sig, const float *flt, float *out,
                                 int flen) {
  __shared__ float s[2 * P];
  __shared__ float f[P];
  const int o = blockIdx.x * P + threadIdx.x;
  float sum = 0.f;
  for (int piece = 0; piece < flen; piece += P) {
    s[threadIdx.x] = sig[o + piece];
    s[threadIdx.x + P] = sig[o + piece + P];
    f[threadIdx.x] = flt[piece + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < P; ++k)
      sum += f[k] * s[threadIdx.x + k];
    __syncthreads();
  }
  out[o] = sum;
}

void convolve(const float *sig, const float *flt, float *out, int n, int flen) {
  long_convolution<<<n / P, P>>>(sig, flt, out, flen);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 20, 1 << 23}, 512)) {
    int flen = small_only ? 256 : 512;
    float *s = filled<float>(n + flen + P, 80), *f = filled<float>(flen, 81),
          *o = zeros<float>(n);
    measure("long_convolution", text(n), [&] { convolve(s, f, o, n, flen); },
            {result(o, n)});
    release(s, f, o);
  }
}
