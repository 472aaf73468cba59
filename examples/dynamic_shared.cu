// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dynamic shared memory, a block size known only at run time, two launches on a
// stream: one with a block that is no multiple of a warp.

#include "example.h"

#define R 7

extern __shared__ float staged[];

// in holds n + 2 * R elements, out holds n.
__global__ void weighted(const float *in, float *out, int n) {
  const unsigned g = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned l = threadIdx.x;
  if (g < n + 2 * R)
    staged[l] = in[g];
  if (l < 2 * R && g + blockDim.x < n + 2 * R)
    staged[l + blockDim.x] = in[g + blockDim.x];
  __syncthreads();

  if (g < n) {
    float sum = 0;
#pragma unroll
    for (int j = 0; j < 2 * R + 1; ++j)
      sum += float(j + 1) * staged[l + j];
    out[g] = sum;
  }
}

static int run(const char *name, int n, int block, cudaStream_t stream) {
  const auto in = example::numbers<float>(n + 2 * R);
  example::Buffer<float> In(in), Out(std::vector<float>(n, -1.0f));
  const size_t bytes = (block + 2 * R) * sizeof(float);
  weighted<<<(n + block - 1) / block, block, bytes, stream>>>(In.data(),
                                                              Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaStreamSynchronize(stream));
  std::vector<float> want(n);
  for (int g = 0; g < n; ++g) {
    float sum = 0;
    for (int j = 0; j < 2 * R + 1; ++j)
      sum += float(j + 1) * in[g + j];
    want[g] = sum;
  }
  return example::report(name, Out.host(), want);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 8000);
  cudaStream_t stream;
  EXAMPLE_CHECK(cudaStreamCreate(&stream));
  const int wrong = run("dynamic_shared, block 256", n, 256, stream) |
                    run("dynamic_shared, block 100", n, 100, stream);
  EXAMPLE_CHECK(cudaStreamDestroy(stream));
  return wrong;
}
