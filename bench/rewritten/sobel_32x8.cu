// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sobel gradient magnitude of an image of bytes, clamped borders. -DBX=16
// -DBY=16

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

__global__ void sobel(const unsigned char *in, unsigned char *out, int w,
                      int h) {
  __shared__ unsigned char s[BY + 2][BX + 2];
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  for (int j = threadIdx.y; j < BY + 2; j += BY)
    for (int i = threadIdx.x; i < BX + 2; i += BX) {
      const int sy = min(max(int(blockIdx.y * BY) + j - 1, 0), h - 1);
      const int sx = min(max(int(blockIdx.x * BX) + i - 1, 0), w - 1);
      s[j][i] = in[sy * w + sx];
    }
  __syncthreads();
  if (x < w && y < h) {
    const int i = threadIdx.x, j = threadIdx.y;
    const int dx = s[j][i + 2] - s[j][i] + 2 * (s[j + 1][i + 2] - s[j + 1][i]) +
                   s[j + 2][i + 2] - s[j + 2][i];
    const int dy = s[j + 2][i] - s[j][i] + 2 * (s[j + 2][i + 1] - s[j][i + 1]) +
                   s[j + 2][i + 2] - s[j][i + 2];
    out[y * w + x] = static_cast<unsigned char>(min(abs(dx) + abs(dy), 255));
  }
}

static void launch(const unsigned char *in, unsigned char *out, int w, int h) {
  sobel<<<dim3((w + BX - 1) / BX, (h + BY - 1) / BY), dim3(BX, BY)>>>(in, out,
                                                                      w, h);
}

int main(int argc, char **argv) {
  bench::measure2d<unsigned char>(bench::label(argc, argv), "sobel",
                                  STRING(BX) "x" STRING(BY), 0, launch);
  return 0;
}
