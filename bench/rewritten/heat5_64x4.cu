// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The 5-point heat step with a halo filled by the threads at the tile's edge.
// -DBX=32 -DBY=8

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

__global__ void heat(const float *in, float *out, int w, int h) {
  __shared__ float s[BY + 2][BX + 2];
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  const int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  const bool inside = x < w && y < h;
  s[ly][lx] = inside ? in[y * w + x] : 0.0f;
  if (threadIdx.x == 0)
    s[ly][0] = x > 0 && y < h && x - 1 < w ? in[y * w + x - 1] : 0.0f;
  if (threadIdx.x == BX - 1)
    s[ly][BX + 1] = x + 1 < w && y < h ? in[y * w + x + 1] : 0.0f;
  if (threadIdx.y == 0)
    s[0][lx] = y > 0 && x < w && y - 1 < h ? in[(y - 1) * w + x] : 0.0f;
  if (threadIdx.y == BY - 1)
    s[BY + 1][lx] = y + 1 < h && x < w ? in[(y + 1) * w + x] : 0.0f;
  __syncthreads();
  if (inside)
    out[y * w + x] = 0.6f * s[ly][lx] + 0.1f * (s[ly - 1][lx] + s[ly + 1][lx] +
                                                s[ly][lx - 1] + s[ly][lx + 1]);
}

static void launch(const float *in, float *out, int w, int h) {
  heat<<<dim3((w + BX - 1) / BX, (h + BY - 1) / BY), dim3(BX, BY)>>>(in, out, w,
                                                                    h);
}

int main(int argc, char **argv) {
  bench::measure2d<float>(bench::label(argc, argv), "heat5",
                          STRING(BX) "x" STRING(BY), 6, launch);
  return 0;
}
