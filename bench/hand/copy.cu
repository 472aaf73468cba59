// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copy bandwidth of the device: the best of the runtime's copy and of
// vector copies by a kernel, for the amounts that the benchmarks move.

#include "../harness.cuh"

static __global__ void copy(const uint4 *a, uint4 *b, size_t n) {
  const size_t i = blockIdx.x * size_t(blockDim.x) * 2 + threadIdx.x;
  const size_t j = i + blockDim.x;
  uint4 x = {}, y = {};
  if (i < n)
    x = a[i];
  if (j < n)
    y = a[j];
  if (i < n)
    b[i] = x;
  if (j < n)
    b[j] = y;
}

int main() {
  for (size_t elements : {size_t(1) << 27, size_t(1) << 28}) {
    float *in = bench::random<float>(elements, 1);
    float *out = bench::blank<float>(elements);
    bench::Line line;
    line.Name = "copy-" + std::to_string(elements);
    line.Bytes = 8.0 * double(elements);
    const auto keep = [&](const char *shape, float ms) {
      if (line.Ms == 0 || ms < line.Ms) {
        line.Ms = ms;
        line.Shape = shape;
      }
    };
    keep("cudaMemcpy", bench::medianMs([&] {
           BENCH_CHECK(cudaMemcpyAsync(out, in, elements * 4,
                                       cudaMemcpyDeviceToDevice));
         }));
    for (int threads : {128, 256, 512}) {
      const size_t vectors = elements / 4;
      keep(std::to_string(threads).c_str(), bench::medianMs([&] {
             copy<<<unsigned((vectors + 2 * threads - 1) / (2 * threads)),
                    threads>>>(reinterpret_cast<const uint4 *>(in),
                               reinterpret_cast<uint4 *>(out), vectors);
           }));
    }
    bench::print("copy", line, bench::properties());
    BENCH_CHECK(cudaFree(in));
    BENCH_CHECK(cudaFree(out));
  }
  return 0;
}
