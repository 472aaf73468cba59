// One lifting step of the Haar wavelet with a linear predictor: a block takes
// 512 samples apart into 256 means and 256 differences.
#include "validation.cuh"

__global__ void lift(const int *__restrict__ x, int *__restrict__ low,
                     int *__restrict__ high, int half) {
  __shared__ int s[2 * 256 + 2];
  int t = threadIdx.x, b = 2 * blockIdx.x * blockDim.x;
  s[t] = x[b + t];
  s[t + 256] = x[b + t + 256];
  if (t < 2)
    s[512 + t] = x[min(b + 512 + t, 2 * half - 2 + t)];
  __syncthreads();
  int even = s[2 * t], odd = s[2 * t + 1], next = s[2 * t + 2];
  int d = odd - ((even + next) >> 1);
  int o = blockIdx.x * blockDim.x + t;
  high[o] = d;
  low[o] = even + (d >> 1);
}

void transform(const int *x, int *low, int *high, int half) {
  lift<<<half / 256, 256>>>(x, low, high, half);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int half : sizes({1 << 25, 1 << 19}, 1024)) {
    int *x = filled<int>(2 * (size_t)half, 30, -5000, 5000),
        *l = zeros<int>(half), *h = zeros<int>(half);
    measure("lift", text(half), [&] { transform(x, l, h, half); },
            {result(l, half), result(h, half)});
    release(x, l, h);
  }
}
