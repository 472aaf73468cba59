// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Halves the rate of a signal: each output weighs five inputs around every
// second one, so neighbouring threads read elements two apart.

#include "example.h"

constexpr int Block = 128;

// in holds 2 * n + 3 samples, out holds n.
__global__ void downsample(const float *in, float *out, int n) {
  __shared__ float s[2 * Block + 3];
  const int first = 2 * Block * blockIdx.x;
  for (int i = threadIdx.x; i < 2 * Block + 3; i += Block)
    if (first + i < 2 * n + 3)
      s[i] = in[first + i];
  __syncthreads();

  const int g = blockIdx.x * Block + threadIdx.x;
  if (g < n) {
    const int l = 2 * threadIdx.x;
    out[g] = 0.0625f * (s[l] + s[l + 4]) + 0.25f * (s[l + 1] + s[l + 3]) +
             0.375f * s[l + 2];
  }
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 5000);
  const auto in = example::numbers<float>(2 * n + 3);
  example::Buffer<float> In(in), Out(std::vector<float>(n, -1.0f));

  downsample<<<(n + Block - 1) / Block, Block>>>(In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(n);
  for (int g = 0; g < n; ++g) {
    const float *s = &in[2 * g];
    want[g] = 0.0625f * (s[0] + s[4]) + 0.25f * (s[1] + s[3]) + 0.375f * s[2];
  }
  return example::report("downsample", Out.host(), want);
}
