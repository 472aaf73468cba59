// FIR filter of 32 taps that lie in constant memory; the history of a signal
// stands in front of it.
#include "validation.cuh"

#define NTAPS 32
#define NT 512
__constant__ float coeff[NTAPS];

__global__ void fir(const float *signal, float *filtered, int len) {
  __shared__ float window[NT + NTAPS - 1];
  int t = threadIdx.x;
  int pos = blockIdx.x * NT + t;
  if (pos < len + NTAPS - 1)
    window[t] = signal[pos];
  if (t < NTAPS - 1 && pos + NT < len + NTAPS - 1)
    window[t + NT] = signal[pos + NT];
  __syncthreads();
  if (pos < len) {
    float acc = 0.f;
    for (int k = 0; k < NTAPS; ++k)
      acc = fmaf(coeff[k], window[t + NTAPS - 1 - k], acc);
    filtered[pos] = acc;
  }
}

void apply(const float *signal, float *filtered, int len) {
  int blocks = (len + NT - 1) / NT;
  fir<<<blocks, NT>>>(signal, filtered, len);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  float taps[NTAPS];
  for (int k = 0; k < NTAPS; ++k)
    taps[k] = 1.f / (k + 3) - 0.1f;
  check(cudaMemcpyToSymbol(coeff, taps, sizeof taps));
  for (int n : sizes({1 << 24, 512 * 1000, 44100 * 60}, 1500)) {
    float *x = filled<float>(n + NTAPS - 1, 21), *y = zeros<float>(n);
    measure("fir", text(n), [&] { apply(x, y, n); }, {result(y, n)});
    release(x, y);
  }
}
