// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cholesky factors of many small matrices and a solve with each, one a thread.
#include "timing.h"

constexpr int Block = 64, N = 10;

__global__ void factor(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ x, int matrices) {
  const int i = blockIdx.x * Block + threadIdx.x;
  if (i >= matrices)
    return;
  float l[N][N], y[N];
#pragma unroll
  for (int r = 0; r < N; ++r)
#pragma unroll
    for (int c = 0; c <= r; ++c)
      l[r][c] = a[(r * (r + 1) / 2 + c) * matrices + i] + (r == c ? 2.0f * N : 0.0f);
#pragma unroll
  for (int c = 0; c < N; ++c) {
    float d = l[c][c];
#pragma unroll
    for (int k = 0; k < c; ++k)
      d -= l[c][k] * l[c][k];
    d = sqrtf(d);
    const float inv = 1.0f / d;
    l[c][c] = inv;
#pragma unroll
    for (int r = c + 1; r < N; ++r) {
      float s = l[r][c];
#pragma unroll
      for (int k = 0; k < c; ++k)
        s -= l[r][k] * l[c][k];
      l[r][c] = s * inv;
    }
  }
#pragma unroll
  for (int r = 0; r < N; ++r) {
    float s = b[r * matrices + i];
#pragma unroll
    for (int k = 0; k < r; ++k)
      s -= l[r][k] * y[k];
    y[r] = s * l[r][r];
  }
#pragma unroll
  for (int r = N - 1; r >= 0; --r) {
    float s = y[r];
#pragma unroll
    for (int k = r + 1; k < N; ++k)
      s -= l[k][r] * y[k];
    y[r] = s * l[r][r];
    x[r * matrices + i] = y[r];
  }
}

int main() {
  const int matrices = 1 << 20;
  float *a = floats(size_t(matrices) * N * (N + 1) / 2, 1, -1, 1), *b = floats(size_t(matrices) * N, 2, -1, 1),
        *x = floats(size_t(matrices) * N, 3);
  report("cholesky", x, sizeof(float) * matrices * N,
         [&] { factor<<<matrices / Block, Block>>>(a, b, x, matrices); });
}
