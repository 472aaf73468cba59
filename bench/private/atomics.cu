// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What atomics of all warps of a launch to the same few addresses cost
// (lib/Predict/Constants.def, AtomicClocks):   nvcc -arch=sm_90 -O3 atomics.cu
#include <cstdio>

template <int A> __global__ void meet(const unsigned *data, unsigned *sums) {
  const unsigned v = data[blockIdx.x * blockDim.x + threadIdx.x];
#pragma unroll
  for (int i = 0; i < A; ++i)
    atomicAdd(&sums[i], v ^ unsigned(i));
}
__global__ void none(const unsigned *data, unsigned *sums) {
  const unsigned v = data[blockIdx.x * blockDim.x + threadIdx.x];
  if (v == 77)
    sums[0] = v;
}

static void time(const char *name, void (*kernel)(const unsigned *, unsigned *), int atomics,
                 int blocks) {
  unsigned *data, *sums;
  cudaMalloc(&data, size_t(blocks) * 256 * sizeof(unsigned));
  cudaMalloc(&sums, 4096);
  cudaMemset(data, 1, size_t(blocks) * 256 * sizeof(unsigned));
  cudaEvent_t from, to;
  cudaEventCreate(&from);
  cudaEventCreate(&to);
  float best = 1e9f;
  for (int round = 0; round < 10; ++round) {
    cudaEventRecord(from);
    kernel<<<blocks, 256>>>(data, sums);
    cudaEventRecord(to);
    cudaEventSynchronize(to);
    float now;
    cudaEventElapsedTime(&now, from, to);
    best = now < best ? now : best;
  }
  printf("%-4s blocks %6d, atomics a thread %2d: %8.1f us, %6.3f ns a warp and atomic\n", name,
         blocks, atomics, best * 1e3, best * 1e6 / (blocks * 8.0 * atomics));
  cudaFree(data);
  cudaFree(sums);
}

int main() {
  for (int blocks : {512, 4096, 32768}) {
    time("none", none, 1, blocks);
    time("meet", meet<1>, 1, blocks);
    time("meet", meet<4>, 4, blocks);
    time("meet", meet<16>, 16, blocks);
  }
}
