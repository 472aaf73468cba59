// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Correlation of a signal with a pattern that is staged as well. -DTAPS=32

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)
#define BLOCK 256

// Zeros behind the end of the signal.
__global__ void correlate(const float *signal, const float *pattern, float *out,
                          int n) {
  __shared__ float s[BLOCK + TAPS - 1];
  __shared__ float p[TAPS];
  const int g = blockIdx.x * BLOCK + threadIdx.x;
  for (int i = threadIdx.x; i < BLOCK + TAPS - 1; i += BLOCK) {
    const int at = blockIdx.x * BLOCK + i;
    s[i] = at < n ? signal[at] : 0.0f;
  }
  if (threadIdx.x < TAPS)
    p[threadIdx.x] = pattern[threadIdx.x];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int j = 0; j < TAPS; ++j)
    sum += p[j] * s[threadIdx.x + j];
  if (g < n)
    out[g] = sum;
}

int main(int argc, char **argv) {
  const float *pattern = bench::random<float>(TAPS, 17);
  bench::measure1d<float>(
      bench::label(argc, argv), "correlate-" STRING(TAPS), 0,
      [&](const float *in, float *out, int n, int block) {
        correlate<<<(n + block - 1) / block, block>>>(in, pattern, out, n);
      },
      {BLOCK});
  return 0;
}
