// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A complex FIR filter: sixteen outputs a thread, in registers, one channel a block row.
#include "timing.h"

constexpr int Block = 128, Outputs = 16;

__global__ void fir(const float2 *__restrict__ in, const float2 *__restrict__ taps, float2 *__restrict__ out, int length,
                    int count) {
  const int first = (blockIdx.x * Block + threadIdx.x) * Outputs;
  if (first + Outputs + count > length)
    return;
  const float2 *row = in + size_t(blockIdx.y) * length;
  float2 sum[Outputs], window[Outputs];
#pragma unroll
  for (int o = 0; o < Outputs; ++o) {
    sum[o] = make_float2(0.0f, 0.0f);
    window[o] = row[first + o];
  }
  for (int k = 0; k < count; ++k) {
    const float2 c = taps[k];
    const float2 fresh = row[first + Outputs + k];
#pragma unroll
    for (int o = 0; o < Outputs; ++o) {
      sum[o].x += c.x * window[o].x - c.y * window[o].y;
      sum[o].y += c.x * window[o].y + c.y * window[o].x;
    }
#pragma unroll
    for (int o = 0; o < Outputs - 1; ++o)
      window[o] = window[o + 1];
    window[Outputs - 1] = fresh;
  }
#pragma unroll
  for (int o = 0; o < Outputs; ++o)
    out[size_t(blockIdx.y) * length + first + o] = sum[o];
}

int main() {
  const int length = 1 << 17, channels = 64, count = 64;
  float2 *in = (float2 *)floats(size_t(length) * channels * 2, 1, -1, 1), *taps = (float2 *)floats(count * 2, 2, -1, 1),
         *out = (float2 *)floats(size_t(length) * channels * 2, 3);
  const dim3 grid(length / Outputs / Block, channels);
  report("fir", out, sizeof(float2) * length * channels, [&] { fir<<<grid, Block>>>(in, taps, out, length, count); });
}
