// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches a kernel that an included header defines (edges.cuh).

#include "edges.cuh"
#include "example.h"

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 6000);
  std::vector<int> in = example::numbers<int>(n);
  for (int &x : in)
    x /= 64; // four values: runs are common
  example::Buffer<int> In(in);
  example::Buffer<unsigned char> Out(std::vector<unsigned char>(n, 9));

  const dim3 block(edges::Block), grid((n + edges::Block - 1) / edges::Block);
  edges::runStarts<<<grid, block>>>(In.data(), Out.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<unsigned char> want(n);
  for (int g = 0; g < n; ++g)
    want[g] = g == 0 || in[g - 1] != in[g];
  return example::report("header_kernel", Out.host(), want);
}
