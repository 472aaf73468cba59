// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums by a tree in shared memory, 128 threads, one element a thread.

#include "../harness.cuh"

#define BLOCK 128

__global__ void blockSums(const float *in, float *sums, int n) {
  __shared__ float s[BLOCK];
  const int l = threadIdx.x, g = blockIdx.x * BLOCK + l;
  s[l] = g < n ? in[g] : 0.0f;
  __syncthreads();
  for (int step = BLOCK / 2; step > 0; step /= 2) {
    if (l < step)
      s[l] += s[l + step];
    __syncthreads();
  }
  if (l == 0)
    sums[blockIdx.x] = s[0];
}

int main(int argc, char **argv) {
  const size_t big = size_t(1) << 27;
  float *in = bench::random<float>(big, 7),
        *out = bench::blank<float>(big / 64);
  bench::Line line;
  line.Name = "reduction-128";
  line.Shape = std::to_string(BLOCK);
  line.Bytes = 4.0 * double(big);
  for (size_t n : {size_t(1), size_t(4099), big - 5, big}) {
    const unsigned blocks = unsigned((n + BLOCK - 1) / BLOCK);
    blockSums<<<blocks, BLOCK>>>(in, out, int(n));
    BENCH_CHECK(cudaGetLastError());
    line.Hashes.push_back(bench::hash(out, blocks * 4));
  }
  line.Ms = bench::medianMs(
      [&] { blockSums<<<unsigned(big / BLOCK), BLOCK>>>(in, out, int(big)); });
  bench::print(bench::label(argc, argv), line);
  return 0;
}
