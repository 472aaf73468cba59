// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole block fills the tile together: a strided loop covers block and
// halo, whatever the block size is. Reads a maximum over the window.

#include "example.h"

#define R 3

__global__ void slidingMaximum(const short *in, short *out, int n) {
  __shared__ short tile[1024 + 2 * R];
  const int first = blockIdx.x * blockDim.x - R;
  for (int i = threadIdx.x; i < blockDim.x + 2 * R; i += blockDim.x) {
    const int g = first + i;
    tile[i] = g >= 0 && g < n ? in[g] : 0;
  }
  __syncthreads();

  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n) {
    short best = tile[threadIdx.x];
    for (int j = 1; j <= 2 * R; ++j) {
      const short x = tile[threadIdx.x + j];
      best = x > best ? x : best;
    }
    out[g] = best;
  }
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 6001);
  const std::vector<short> in = example::numbers<short>(n);
  example::Buffer<short> In(in), Out(std::vector<short>(n, -1));

  const int block = 192;
  slidingMaximum<<<(n + block - 1) / block, block>>>(In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<short> want(n);
  for (int g = 0; g < n; ++g) {
    short best = 0;
    for (int i = g - R; i <= g + R; ++i)
      if (i >= 0 && i < n && in[i] > best)
        best = in[i];
    want[g] = best;
  }
  return example::report("strided_staging", Out.host(), want);
}
