// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One time step of a 1-D wave with a speed that varies in space: two staged
// arrays of different halo, and a third input read directly.

#include "example.h"

#define BLOCK 128

__global__ void waveStep(const float *now, const float *speed,
                         const float *before, float *after, int n) {
  __shared__ float u[BLOCK + 4];
  __shared__ float c[BLOCK + 2];
  const int g = blockIdx.x * BLOCK + threadIdx.x;
  const int l = threadIdx.x;
  if (g < n) {
    u[l + 2] = now[g];
    c[l + 1] = speed[g];
  }
  if (l < 2) {
    if (g >= 2)
      u[l] = now[g - 2];
    if (g + BLOCK < n)
      u[l + BLOCK + 2] = now[g + BLOCK];
  }
  if (l == 0) {
    if (g >= 1)
      c[0] = speed[g - 1];
    if (g + BLOCK < n)
      c[BLOCK + 1] = speed[g + BLOCK];
  }
  __syncthreads();

  if (g >= 2 && g < n - 2) {
    const float second =
        16.0f * (u[l + 1] + u[l + 3]) - 30.0f * u[l + 2] - (u[l] + u[l + 4]);
    const float local = 0.25f * (c[l] + 2.0f * c[l + 1] + c[l + 2]);
    after[g] = 2.0f * u[l + 2] - before[g] + local * second;
  }
}

int main(int argc, char **argv) {
  const int n = example::argument(argc, argv, 4100);
  const auto now = example::numbers<float>(n, 1);
  const auto before = example::numbers<float>(n, 2);
  const auto speed = example::numbers<float>(n, 3);
  example::Buffer<float> Now(now), Before(before), Speed(speed),
      After(std::vector<float>(n, 0.0f));

  waveStep<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(Now.data(), Speed.data(),
                                               Before.data(), After.data(), n);
  EXAMPLE_CHECK(cudaGetLastError());
  EXAMPLE_CHECK(cudaDeviceSynchronize());

  std::vector<float> want(n, 0.0f);
  for (int g = 2; g < n - 2; ++g) {
    const float second = 16.0f * (now[g - 1] + now[g + 1]) - 30.0f * now[g] -
                         (now[g - 2] + now[g + 2]);
    const float local = 0.25f * (speed[g - 1] + 2.0f * speed[g] + speed[g + 1]);
    want[g] = 2.0f * now[g] - before[g] + local * second;
  }
  return example::report("several_arrays", After.host(), want);
}
