// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures kernels that hand over one block of elements at a time.

#ifndef RCACHE_BENCH_BLOCKS_CUH
#define RCACHE_BENCH_BLOCKS_CUH

#include "../harness.cuh"

#define BENCH_TEXT_(x) #x
#define BENCH_TEXT(x) BENCH_TEXT_(x)

namespace bench {

/// "tree_float", "tree_float_4": of several elements a thread.
inline std::string named(const char *kernel, const char *type, int perThread) {
  return std::string(kernel) + "_" + type +
         (perThread > 1 ? "_" + std::to_string(perThread) : "");
}

/// launch(in, out, blocks) with \p perBlock elements of T read by a block and
/// \p written elements of T written by it: at 2^27 elements, and at other sizes
/// (2^16 to 2^28) as cases of their own. A sample of a small size is as many
/// launches in a row as take about a third of a millisecond. What a block gives
/// hangs on its size: cases of another \p shape are not compared; nor is what adds
/// in another order (\p sameBits false).
template <class T, class F>
void measureBlocks(const char *label, const std::string &name,
                   const std::string &shape, size_t perBlock, size_t written,
                   F launch, bool sameBits = true) {
  const size_t most = size_t(1) << 28;
  T *in = random<T>(most, 7), *out = blank<T>(most / perBlock * written);
  for (int log : {27, 16, 18, 20, 22, 24, 28}) {
    if (quick() && log != 27)
      continue;
    const unsigned blocks = unsigned((size_t(1) << log) / perBlock);
    Line line;
    line.Name =
        name + "_" + shape + (log == 27 ? "" : "_2^" + std::to_string(log));
    line.Shape = shape;
    line.Bytes = double(sizeof(T)) * blocks * double(perBlock + written);
    for (unsigned some : {1u, 3u, 37u, blocks}) {
      BENCH_CHECK(cudaMemset(out, 0xff, some * written * sizeof(T)));
      launch(in, out, some);
      BENCH_CHECK(cudaGetLastError());
      if (sameBits)
        line.Hashes.push_back(hash(out, some * written * sizeof(T)));
    }
    const int row = log < 26 ? 64 >> (log - 16) / 2 : 1;
    line.Ms = medianMs([&] {
                for (int i = 0; i < row; ++i)
                  launch(in, out, blocks);
              }) /
              row;
    print(label, line);
  }
  BENCH_CHECK(cudaFree(in));
  BENCH_CHECK(cudaFree(out));
}

} // namespace bench

#endif // RCACHE_BENCH_BLOCKS_CUH
