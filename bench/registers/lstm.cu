// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An LSTM cell: four gates of eight hidden units for one sequence a thread.
#include "timing.h"

constexpr int Block = 128, Units = 8;

__device__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

__global__ void cell(const float *__restrict__ x, const float *__restrict__ w, const float *__restrict__ bias,
                     float *__restrict__ h, float *__restrict__ c, int batch, int inputs, int steps) {
  const int b = blockIdx.x * Block + threadIdx.x;
  if (b >= batch)
    return;
  float state[Units];
#pragma unroll
  for (int u = 0; u < Units; ++u)
    state[u] = c[u * batch + b];
  for (int t = 0; t < steps; ++t) {
    float in[Units], forget[Units], cand[Units], outg[Units];
#pragma unroll
    for (int u = 0; u < Units; ++u) {
      in[u] = bias[u];
      forget[u] = bias[Units + u];
      cand[u] = bias[2 * Units + u];
      outg[u] = bias[3 * Units + u];
    }
    for (int k = 0; k < inputs; ++k) {
      const float v = x[(t * inputs + k) * batch + b];
#pragma unroll
      for (int u = 0; u < Units; ++u) {
        in[u] += w[(k * 4 + 0) * Units + u] * v;
        forget[u] += w[(k * 4 + 1) * Units + u] * v;
        cand[u] += w[(k * 4 + 2) * Units + u] * v;
        outg[u] += w[(k * 4 + 3) * Units + u] * v;
      }
    }
#pragma unroll
    for (int u = 0; u < Units; ++u) {
      state[u] = sigmoid(forget[u]) * state[u] + sigmoid(in[u]) * tanhf(cand[u]);
      h[(t * Units + u) * batch + b] = sigmoid(outg[u]) * tanhf(state[u]);
    }
  }
#pragma unroll
  for (int u = 0; u < Units; ++u)
    c[(Units + u) * batch + b] = state[u];
}

int main() {
  const int batch = 1 << 18, inputs = 32, steps = 4;
  float *x = floats(size_t(batch) * inputs * steps, 1, -1, 1), *w = floats(inputs * 4 * Units, 2, -0.3f, 0.3f),
        *bias = floats(4 * Units, 3, -0.1f, 0.1f), *h = floats(size_t(batch) * Units * steps, 4),
        *c = floats(size_t(batch) * Units * 2, 5);
  report("lstm", h, sizeof(float) * batch * Units * steps,
         [&] { cell<<<batch / Block, Block>>>(x, w, bias, h, c, batch, inputs, steps); });
}
