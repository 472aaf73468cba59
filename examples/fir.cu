// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A FIR filter: weights in constant memory, the signal staged with a halo that
// repeats the first and the last sample (clamped borders).

#include "example.h"

constexpr int Radius = 6;
constexpr int Taps = 2 * Radius + 1;
constexpr int Block = 256;

__constant__ float weights[Taps];

__global__ void __launch_bounds__(Block)
    fir(const float *__restrict__ signal, float *__restrict__ filtered, int n) {
  __shared__ float window[Block + 2 * Radius];
  const int g = blockIdx.x * Block + threadIdx.x;

  window[threadIdx.x + Radius] = signal[min(g, n - 1)];
  if (threadIdx.x < Radius)
    window[threadIdx.x] = signal[min(max(g - Radius, 0), n - 1)];
  if (threadIdx.x >= Block - Radius)
    window[threadIdx.x + 2 * Radius] = signal[min(g + Radius, n - 1)];
  __syncthreads();

  if (g < n) {
    float sum = 0.0f;
#pragma unroll
    for (int t = 0; t < Taps; ++t)
      sum += weights[t] * window[threadIdx.x + t];
    filtered[g] = sum;
  }
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 7000);
  const std::vector<float> signal = example::numbers<float>(n);
  float w[Taps];
  for (int t = 0; t < Taps; ++t)
    w[t] = float((t * 5 + 3) % 17 - 6) / 64.0f;
  EXAMPLE_CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
  example::Buffer<float> In(signal), Out(std::vector<float>(n, -1.0f));

  fir<<<(n + Block - 1) / Block, Block>>>(In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(n);
  for (int g = 0; g < n; ++g) {
    float sum = 0;
    for (int t = 0; t < Taps; ++t) {
      const int i = g + t - Radius;
      sum += w[t] * signal[i < 0 ? 0 : i >= n ? n - 1 : i];
    }
    want[g] = sum;
  }
  return example::report("fir", Out.host(), want);
}
