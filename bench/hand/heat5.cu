// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The 5-point step of originals/heat5.cu without staging.

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

__global__ void naive(const float *in, float *out, int w, int h) {
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  if (x >= w || y >= h)
    return;
  const float up = y > 0 ? in[(y - 1) * w + x] : 0.0f;
  const float down = y + 1 < h ? in[(y + 1) * w + x] : 0.0f;
  const float left = x > 0 ? in[y * w + x - 1] : 0.0f;
  const float right = x + 1 < w ? in[y * w + x + 1] : 0.0f;
  out[y * w + x] = 0.6f * in[y * w + x] + 0.1f * (up + down + left + right);
}

int main() {
  bench::measure2d<float>(
      "naive", "heat5", STRING(BX) "x" STRING(BY), 6,
      [](const float *in, float *out, int w, int h) {
        naive<<<dim3((w + BX - 1) / BX, (h + BY - 1) / BY), dim3(BX, BY)>>>(
            in, out, w, h);
      });
  return 0;
}
