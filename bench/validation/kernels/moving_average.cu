// Moving average over 2 R + 1 samples, staged by all threads in strides.
#include "validation.cuh"

template <int R>
__global__ void mean_window(const float *__restrict__ x, float *__restrict__ y,
                            int n) {
  extern __shared__ float buf[];
  const int base = blockIdx.x * blockDim.x;
  for (int i = threadIdx.x; i < blockDim.x + 2 * R; i += blockDim.x) {
    int g = base + i - R;
    buf[i] = (g >= 0 && g < n) ? x[g] : 0.0f;
  }
  __syncthreads();
  int g = base + threadIdx.x;
  if (g >= n)
    return;
  float s = 0;
#pragma unroll
  for (int j = 0; j <= 2 * R; ++j)
    s += buf[threadIdx.x + j];
  y[g] = s / (2 * R + 1);
}

void narrow(const float *x, float *y, int n) {
  const int threads = 256;
  mean_window<2><<<(n + threads - 1) / threads, threads,
                   (threads + 4) * sizeof(float)>>>(x, y, n);
}
void wide(const float *x, float *y, int n) {
  const int threads = 128;
  mean_window<12><<<(n + threads - 1) / threads, threads,
                    (threads + 24) * sizeof(float)>>>(x, y, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 26, 10000000, 250000}, 1000)) {
    float *x = filled<float>(n, 20), *y = zeros<float>(n);
    measure("mean_window<2>", text(n), [&] { narrow(x, y, n); },
            {result(y, n)});
    measure("mean_window<12>", text(n), [&] { wide(x, y, n); },
            {result(y, n)});
    release(x, y);
  }
}
