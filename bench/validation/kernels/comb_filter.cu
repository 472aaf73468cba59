// Feed-forward comb on 16-bit audio: two taps, the second one 96 samples back.
#include "validation.cuh"

constexpr int kDelay = 96;
constexpr int kBlock = 256;

__global__ void comb(const short *in, short *out, int samples, float gain) {
  __shared__ short s[kBlock + kDelay];
  int n = blockIdx.x * kBlock + threadIdx.x;
  s[threadIdx.x + kDelay] = n < samples ? in[n] : (short)0;
  if (threadIdx.x < kDelay)
    s[threadIdx.x] = n >= kDelay ? in[n - kDelay] : (short)0;
  __syncthreads();
  if (n < samples) {
    float v = s[threadIdx.x + kDelay] + gain * s[threadIdx.x];
    v = fminf(fmaxf(v, -32768.f), 32767.f);
    out[n] = (short)v;
  }
}

void process(const short *in, short *out, int samples) {
  comb<<<(samples + kBlock - 1) / kBlock, kBlock>>>(in, out, samples, 0.6f);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 26, 44100 * 30}, 1111)) {
    short *in = filled<short>(n, 28, -30000, 30000), *out = zeros<short>(n);
    measure("comb", text(n), [&] { process(in, out, n); }, {result(out, n)});
    release(in, out);
  }
}
