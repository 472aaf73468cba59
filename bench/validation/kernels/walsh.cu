// Walsh-Hadamard transform of pieces of 256.
#include "validation.cuh"

#define N 256

__global__ void fwht(float *out, const float *in) {
  __shared__ float s[N];
  const int t = threadIdx.x, base = blockIdx.x * N;
  s[t] = in[base + t];
  for (int stride = N / 2; stride >= 1; stride >>= 1) {
    __syncthreads();
    float a = s[t], b = s[t ^ stride];
    __syncthreads();
    s[t] = (t & stride) ? b - a : a + b;
  }
  out[base + t] = s[t];
}

void transform(float *out, const float *in, int n) {
  fwht<<<n / N, N>>>(out, in);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 25, 1 << 20}, 1024)) {
    float *in = filled<float>(n, 103), *out = zeros<float>(n);
    measure("fwht", text(n), [&] { transform(out, in, n); }, {result(out, n)});
    release(in, out);
  }
}
