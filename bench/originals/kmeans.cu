// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The assignment step of k-means: 32 centroids of 4 dimensions, read by all
// threads at once.

#include "../harness.cuh"

#define CENTROIDS 32
#define BLOCK 256

__global__ void assign(const float4 *__restrict__ points,
                       const float4 *__restrict__ centroids,
                       int *__restrict__ nearest, int n) {
  __shared__ float4 c[CENTROIDS];
  const int g = blockIdx.x * BLOCK + threadIdx.x;
  if (threadIdx.x < CENTROIDS)
    c[threadIdx.x] = centroids[threadIdx.x];
  __syncthreads();
  if (g >= n)
    return;
  const float4 p = points[g];
  float least = 3.4e38f;
  int best = 0;
  for (int i = 0; i < CENTROIDS; ++i) {
    const float4 q = c[i];
    const float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z, dw = p.w - q.w;
    const float d = dx * dx + dy * dy + dz * dz + dw * dw;
    if (d < least) {
      least = d;
      best = i;
    }
  }
  nearest[g] = best;
}

int main(int argc, char **argv) {
  const int n = 1 << 25;
  const float4 *points = bench::random<float4>(n, 1),
               *centroids = bench::random<float4>(CENTROIDS, 2);
  int *nearest = bench::blank<int>(n);
  const auto launch = [&](int count) {
    assign<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(points, centroids, nearest,
                                                   count);
  };
  bench::Line line;
  line.Name = "kmeans-32";
  line.Shape = std::to_string(BLOCK);
  line.Bytes = 20.0 * n;
  line.Operations = 11.0 * CENTROIDS * n;
  for (int count : {1, 4099, n}) {
    BENCH_CHECK(cudaMemset(nearest, 0xff, size_t(n) * 4));
    launch(count);
    BENCH_CHECK(cudaGetLastError());
    line.Hashes.push_back(bench::hash(nearest, size_t(count) * 4));
  }
  line.Ms = bench::medianMs([&] { launch(n); }, 9);
  bench::print(bench::label(argc, argv), line);
  return 0;
}
