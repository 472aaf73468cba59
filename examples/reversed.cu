// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolution proper: the signal is read backwards under a short kernel whose
// weights stand in the source.

#include "example.h"

#define BLOCK 256
#define LENGTH 5

// in holds n + LENGTH - 1 samples, out holds n.
__global__ void convolve(const double *in, double *out, int n) {
  __shared__ double s[BLOCK + LENGTH - 1];
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n + LENGTH - 1)
    s[threadIdx.x] = in[g];
  if (threadIdx.x < LENGTH - 1 && g + BLOCK < n + LENGTH - 1)
    s[threadIdx.x + BLOCK] = in[g + BLOCK];
  __syncthreads();

  if (g < n) {
    const double weight[LENGTH] = {0.5, -1.25, 3.0, 0.75, -2.0};
    double sum = 0;
#pragma unroll
    for (int j = 0; j < LENGTH; ++j)
      sum += weight[j] * s[threadIdx.x + (LENGTH - 1 - j)];
    out[g] = sum;
  }
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 3333);
  const auto in = example::numbers<double>(n + LENGTH - 1);
  example::Buffer<double> In(in), Out(std::vector<double>(n, -1.0));

  convolve<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  const double weight[LENGTH] = {0.5, -1.25, 3.0, 0.75, -2.0};
  std::vector<double> want(n);
  for (int g = 0; g < n; ++g) {
    double sum = 0;
    for (int j = 0; j < LENGTH; ++j)
      sum += weight[j] * in[g + LENGTH - 1 - j];
    want[g] = sum;
  }
  return example::report("reversed", Out.host(), want);
}
