// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gravity between all pairs of n bodies, positions staged in tiles of float4;
// every thread reads every element of a tile. -DRESTRICT=__restrict__

#include "../harness.cuh"

#define TILE 256
#ifndef RESTRICT
#define RESTRICT
#endif

// positions: x, y, z, mass. n is a multiple of TILE.
__global__ void accelerations(const float4 *RESTRICT positions,
                              float4 *RESTRICT result, int n) {
  __shared__ float4 tile[TILE];
  const int g = blockIdx.x * TILE + threadIdx.x;
  const float4 me = positions[g];
  float ax = 0, ay = 0, az = 0;
  for (int t = 0; t < n / TILE; ++t) {
    tile[threadIdx.x] = positions[t * TILE + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < TILE; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      const float d = dx * dx + dy * dy + dz * dz + 1e-4f;
      const float inverse = rsqrtf(d);
      const float f = other.w * inverse * inverse * inverse;
      ax += f * dx;
      ay += f * dy;
      az += f * dz;
    }
    __syncthreads();
  }
  result[g] = make_float4(ax, ay, az, 0.0f);
}

int main(int argc, char **argv) {
  const int n = 1 << 17;
  float *in = bench::random<float>(size_t(n) * 4, 5);
  float *out = bench::blank<float>(size_t(n) * 4);
  const auto launch = [&](int count) {
    accelerations<<<count / TILE, TILE>>>(reinterpret_cast<const float4 *>(in),
                                          reinterpret_cast<float4 *>(out),
                                          count);
  };
  bench::Line line;
  line.Name = "nbody-131072";
  line.Shape = std::to_string(TILE);
  line.Bytes = 32.0 * n;
  line.Operations = 20.0 * double(n) * n;
  // 3 differences, 3 for the distance, 3 products, 3 sums; the root is another
  // unit's, which takes half of their time.
  // The tool counts a loop of unknown length as 8 rounds.
  line.Outputs = double(n) * (n / TILE) / 8;
  line.Fp32 = 12.0 * double(n) * n;
  for (int count : {TILE, 5 * TILE, n}) {
    BENCH_CHECK(cudaMemset(out, 0xff, size_t(n) * 16));
    launch(count);
    BENCH_CHECK(cudaGetLastError());
    line.Hashes.push_back(bench::hash(out, size_t(count) * 16));
  }
  line.Ms = bench::medianMs([&] { launch(n); }, 5);
  bench::print(bench::label(argc, argv), line);
  return 0;
}
