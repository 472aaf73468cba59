// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The k-stencil written by hand on the device header, in both exchanges: what
// to do where the tool declines. Compile with -I<rcache>/include.

#include "example.h"
#include <rcache/device/rcache.cuh>

namespace rc = rcache::device;

constexpr int K = 6; // neighbours on each side
constexpr int C = 8; // outputs a thread
constexpr int Halo = 2 * K;

// in holds n + 2 * K elements, out holds n.
template <typename T, bool Shuffle>
__global__ void stencil(const T *in, T *out, int n, unsigned blocks) {
  const unsigned block = blockIdx.x * blockDim.y + threadIdx.y;
  // Every lane takes part in the exchange, also those past the last block.
  const int first = (block * blockDim.x + threadIdx.x) * C;
  T window[C + Halo];
  if (Shuffle)
    rc::chunked_window<C, Halo>(window, in, first, n + Halo);
  else
    rc::direct_window<C, Halo>(window, in, first, n + Halo);

  T sums[C];
#pragma unroll
  for (int s = 0; s < C; ++s) {
    T sum = T();
#pragma unroll
    for (int m = 0; m <= Halo; ++m)
      sum += window[s + m];
    sums[s] = sum;
  }
  if (block < blocks)
    rc::store_outputs(out, first, n, sums);
}

template <typename T, bool Shuffle>
static int run(const char *name, int n, int offset) {
  // An offset of one element makes the pointers unaligned: the slow path.
  const auto in = example::numbers<T>(n + Halo + offset);
  example::Buffer<T> In(in), Out(std::vector<T>(n + offset, T(1)));

  const dim3 grid((n + 255) / 256), block(256);
  const rc::Launch l = rc::merge_blocks(grid, block, C, Shuffle);
  if (!l.Fits)
    return 1;
  EXAMPLE_CHECK(rc::launch(stencil<T, Shuffle>, l.Grid, l.Block, 0, nullptr,
                           In.data() + offset, Out.data() + offset, n, grid.x));
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<T> want(n + offset, T(1));
  for (int g = 0; g < n; ++g) {
    T sum = T();
    for (int m = 0; m <= Halo; ++m)
      sum += in[offset + g + m];
    want[offset + g] = sum;
  }
  return example::report(name, Out.host(), want);
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 5001);
  return run<float, false>("by_hand float, direct", n, 0) |
         run<float, true>("by_hand float, shuffled", n, 0) |
         run<float, true>("by_hand float, shuffled, unaligned", n, 1) |
         run<double, true>("by_hand double, shuffled", n, 0) |
         run<short, true>("by_hand short, shuffled", n, 0) |
         run<unsigned char, false>("by_hand bytes, direct, unaligned", n, 3);
}
