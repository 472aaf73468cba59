// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is staged is computed: a product of two inputs, converted and limited.
// The block then forms local energies from it.

#include "example.h"

#define BLOCK 256
#define SPAN 8

__global__ void localEnergy(const unsigned char *gain, const short *level,
                            float *energy, int n) {
  __shared__ float s[BLOCK + SPAN];
  const int g = blockIdx.x * BLOCK + threadIdx.x;
  if (g < n)
    s[threadIdx.x] = fminf(float(gain[g]) * float(level[g]), 4096.0f);
  if (threadIdx.x < SPAN && g + BLOCK < n)
    s[threadIdx.x + BLOCK] =
        fminf(float(gain[g + BLOCK]) * float(level[g + BLOCK]), 4096.0f);
  __syncthreads();

  if (g < n - SPAN) {
    float e = 0;
#pragma unroll
    for (int j = 0; j < SPAN; ++j) {
      const float d = s[threadIdx.x + j + 1] - s[threadIdx.x + j];
      e += fabsf(d);
    }
    energy[g] = e;
  }
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 9000);
  const auto gain = example::numbers<unsigned char>(n, 1);
  const auto level = example::numbers<short>(n, 2);
  example::Buffer<unsigned char> Gain(gain);
  example::Buffer<short> Level(level);
  example::Buffer<float> Energy(std::vector<float>(n, -1.0f));

  localEnergy<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(Gain.data(), Level.data(),
                                                  Energy.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> v(n), want(n, -1.0f);
  for (int i = 0; i < n; ++i) {
    v[i] = float(gain[i]) * float(level[i]);
    v[i] = v[i] < 4096.0f ? v[i] : 4096.0f;
  }
  for (int g = 0; g < n - SPAN; ++g) {
    float e = 0;
    for (int j = 0; j < SPAN; ++j)
      e += v[g + j + 1] < v[g + j] ? v[g + j] - v[g + j + 1]
                                   : v[g + j + 1] - v[g + j];
    want[g] = e;
  }
  return example::report("computed_staging", Energy.host(), want);
}
