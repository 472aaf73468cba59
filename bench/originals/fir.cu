// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A FIR filter of 2 R + 1 taps, weights in constant memory, zeros outside; tile
// filled by a strided loop. -DR=8

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)
#define BLOCK 256

__constant__ float W[2 * R + 1];

__global__ void fir(const float *in, float *out, int n) {
  __shared__ float s[BLOCK + 2 * R];
  const int first = blockIdx.x * BLOCK - R;
  for (int i = threadIdx.x; i < BLOCK + 2 * R; i += BLOCK) {
    const int e = first + i;
    s[i] = e >= 0 && e < n ? in[e] : 0.0f;
  }
  __syncthreads();
  const int g = blockIdx.x * BLOCK + threadIdx.x;
  if (g < n) {
    float sum = 0;
#pragma unroll
    for (int t = 0; t < 2 * R + 1; ++t)
      sum += W[t] * s[threadIdx.x + t];
    out[g] = sum;
  }
}

static void launch(const float *in, float *out, int n, int) {
  fir<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(in, out, n);
}

int main(int argc, char **argv) {
  float w[2 * R + 1];
  for (int t = 0; t < 2 * R + 1; ++t)
    w[t] = 0.01f * float(t + 1) - 0.003f * float(t % 7);
  BENCH_CHECK(cudaMemcpyToSymbol(W, w, sizeof w));
  bench::measure1d<float>(bench::label(argc, argv), "fir-r" STRING(R), 0,
                          launch, {BLOCK});
  return 0;
}
