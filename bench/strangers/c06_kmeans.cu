// k-means: nearest centre of each point; the centres are in shared memory.
#include "bench.h"
#include <cfloat>

#define DIMS 8

__global__ void assignClusters(const float *points, const float *centres, int *label, int n, int k) {
  extern __shared__ float sc[];
  for (int i = threadIdx.x; i < k * DIMS; i += blockDim.x)
    sc[i] = centres[i];
  __syncthreads();
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n)
    return;
  float x[DIMS];
#pragma unroll
  for (int d = 0; d < DIMS; ++d)
    x[d] = points[(size_t)d * n + p];
  float best = FLT_MAX;
  int who = 0;
  for (int c = 0; c < k; ++c) {
    float dist = 0.0f;
#pragma unroll
    for (int d = 0; d < DIMS; ++d) {
      float t = x[d] - sc[c * DIMS + d];
      dist += t * t;
    }
    if (dist < best) {
      best = dist;
      who = c;
    }
  }
  label[p] = who;
}

int main() {
  const int n = 4000000, k = 64;
  float *points = toDevice(randomFloats((size_t)n * DIMS, 251)), *centres = toDevice(randomFloats(k * DIMS, 252));
  int *label = deviceAlloc<int>(n);
  int threads = 256, blocks = (n + threads - 1) / threads;
  size_t bytes = k * DIMS * sizeof(float);
  printTime("assignClusters",
            timeMin([&] { assignClusters<<<blocks, threads, bytes>>>(points, centres, label, n, k); }));
  printHash("assignClusters", label, n);
}
