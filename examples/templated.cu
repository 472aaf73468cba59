// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel template for several element types and radii.

#include "example.h"

namespace filters {

template <typename T, int Radius, int Block>
__global__ void box(const T *in, T *out, int n) {
  __shared__ T tile[Block + 2 * Radius];
  const int g = blockIdx.x * Block + threadIdx.x - Radius;
  const T zero = T();
  tile[threadIdx.x] = g >= 0 && g < n ? in[g] : zero;
  if (threadIdx.x < 2 * Radius)
    tile[threadIdx.x + Block] = g + Block < n ? in[g + Block] : zero;
  __syncthreads();
  if (g + Radius < n) {
    T sum = zero;
#pragma unroll
    for (int j = 0; j < 2 * Radius + 1; ++j)
      sum += tile[threadIdx.x + j];
    out[g + Radius] = sum;
  }
}

} // namespace filters

template <typename T, int Radius, int Block>
static int run(const char *name, int n) {
  const auto in = example::numbers<T>(n);
  example::Buffer<T> In(in), Out(std::vector<T>(n, T(7)));
  filters::box<T, Radius, Block>
      <<<(n + Block - 1) / Block, Block>>>(In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());
  std::vector<T> want(n);
  for (int g = 0; g < n; ++g) {
    T sum = T();
    for (int i = g - Radius; i <= g + Radius; ++i)
      sum += i >= 0 && i < n ? in[i] : T();
    want[g] = sum;
  }
  return example::report(name, Out.host(), want);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 4097);
  return run<float, 2, 256>("templated float, radius 2", n) |
         run<double, 4, 128>("templated double, radius 4", n) |
         run<int, 10, 256>("templated int, radius 10", n);
}
