// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The convolution of originals/conv2d.cu as a user would write it instead:
// without staging (the caches do it), and staged with four outputs a thread.

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

constexpr int D = 2 * R + 1;
constexpr int C = 4; // rows a thread, BY apart
__constant__ float W[D * D];

__device__ float at(const float *in, int x, int y, int w, int h) {
  return y >= 0 && y < h && x >= 0 && x < w ? in[y * w + x] : 0.0f;
}

__global__ void naive(const float *in, float *out, int w, int h) {
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  if (x >= w || y >= h)
    return;
  float sum = 0;
#pragma unroll
  for (int j = 0; j < D; ++j)
#pragma unroll
    for (int i = 0; i < D; ++i)
      sum += W[j * D + i] * at(in, x + i - R, y + j - R, w, h);
  out[y * w + x] = sum;
}

__global__ void coarsened(const float *in, float *out, int w, int h) {
  __shared__ float s[C * BY + 2 * R][BX + 2 * R];
  const int x = blockIdx.x * BX + threadIdx.x;
  for (int j = threadIdx.y; j < C * BY + 2 * R; j += BY)
    for (int i = threadIdx.x; i < BX + 2 * R; i += BX)
      s[j][i] =
          at(in, blockIdx.x * BX + i - R, blockIdx.y * C * BY + j - R, w, h);
  __syncthreads();
#pragma unroll
  for (int c = 0; c < C; ++c) {
    const int l = threadIdx.y + c * BY, y = blockIdx.y * C * BY + l;
    float sum = 0;
#pragma unroll
    for (int j = 0; j < D; ++j)
#pragma unroll
      for (int i = 0; i < D; ++i)
        sum += W[j * D + i] * s[l + j][threadIdx.x + i];
    if (x < w && y < h)
      out[y * w + x] = sum;
  }
}

int main() {
  float weights[D * D];
  for (int i = 0; i < D * D; ++i)
    weights[i] = 0.01f * float(i + 1) - 0.003f * float(i % 7);
  BENCH_CHECK(cudaMemcpyToSymbol(W, weights, sizeof weights));
  const dim3 block(BX, BY);
  bench::measure2d<float>(
      "naive", "conv2d-r" STRING(R), STRING(BX) "x" STRING(BY), 2.0 * D * D,
      [&](const float *in, float *out, int w, int h) {
        naive<<<dim3((w + BX - 1) / BX, (h + BY - 1) / BY), block>>>(in, out, w,
                                                                     h);
      });
  bench::measure2d<float>(
      "shared, 4 a thread", "conv2d-r" STRING(R), STRING(BX) "x" STRING(BY),
      2.0 * D * D, [&](const float *in, float *out, int w, int h) {
        coarsened<<<dim3((w + BX - 1) / BX, (h + C * BY - 1) / (C * BY)),
                    block>>>(in, out, w, h);
      });
  return 0;
}
