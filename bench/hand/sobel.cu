// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Sobel filter of originals/sobel.cu without staging.

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

__global__ void naive(const unsigned char *in, unsigned char *out, int w,
                      int h) {
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int s[3][3];
#pragma unroll
  for (int j = 0; j < 3; ++j)
#pragma unroll
    for (int i = 0; i < 3; ++i)
      s[j][i] =
          in[min(max(y + j - 1, 0), h - 1) * w + min(max(x + i - 1, 0), w - 1)];
  const int dx =
      s[0][2] - s[0][0] + 2 * (s[1][2] - s[1][0]) + s[2][2] - s[2][0];
  const int dy =
      s[2][0] - s[0][0] + 2 * (s[2][1] - s[0][1]) + s[2][2] - s[0][2];
  out[y * w + x] = static_cast<unsigned char>(min(abs(dx) + abs(dy), 255));
}

int main() {
  bench::measure2d<unsigned char>(
      "naive", "sobel", STRING(BX) "x" STRING(BY), 0,
      [](const unsigned char *in, unsigned char *out, int w, int h) {
        naive<<<dim3((w + BX - 1) / BX, (h + BY - 1) / BY), dim3(BX, BY)>>>(
            in, out, w, h);
      });
  return 0;
}
