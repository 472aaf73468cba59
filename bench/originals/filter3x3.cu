// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 3 x 3 filters of images whose pixels are bytes, or four bytes or floats in
// one; clamped at the border. -DOP=1 box, 2 median, 3 erosion;
// -DPIXEL=uchar|uchar4|float4 -DBX=32 -DBY=8

#include "../harness.cuh"

#define STRING2(x) #x
#define STRING(x) STRING2(x)

using uchar = unsigned char;

__device__ void order(uchar &a, uchar &b) {
  const uchar low = min(a, b);
  b = max(a, b);
  a = low;
}

__device__ uchar4 quarter(uchar4 p) {
  return make_uchar4(p.x >> 2, p.y >> 2, p.z >> 2, p.w >> 2);
}
__device__ float4 quarter(float4 p) {
  return make_float4(0.25f * p.x, 0.25f * p.y, 0.25f * p.z, 0.25f * p.w);
}
__device__ uchar4 plus(uchar4 a, uchar4 b) {
  return make_uchar4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__device__ float4 plus(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__global__ void filter(const PIXEL *in, PIXEL *out, int w, int h) {
  __shared__ PIXEL s[BY + 2][BX + 2];
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  for (int j = threadIdx.y; j < BY + 2; j += BY)
    for (int i = threadIdx.x; i < BX + 2; i += BX) {
      const int sy = min(max(int(blockIdx.y * BY) + j - 1, 0), h - 1);
      const int sx = min(max(int(blockIdx.x * BX) + i - 1, 0), w - 1);
      s[j][i] = in[sy * w + sx];
    }
  __syncthreads();
  if (x >= w || y >= h)
    return;
  const int i = threadIdx.x, j = threadIdx.y;
#if OP == 1
  int sum = 0;
#pragma unroll
  for (int b = 0; b < 3; ++b)
#pragma unroll
    for (int a = 0; a < 3; ++a)
      sum += s[j + b][i + a];
  out[y * w + x] = static_cast<uchar>(sum / 9);
#elif OP == 2
  uchar p0 = s[j][i], p1 = s[j][i + 1], p2 = s[j][i + 2];
  uchar p3 = s[j + 1][i], p4 = s[j + 1][i + 1], p5 = s[j + 1][i + 2];
  uchar p6 = s[j + 2][i], p7 = s[j + 2][i + 1], p8 = s[j + 2][i + 2];
  order(p1, p2), order(p4, p5), order(p7, p8), order(p0, p1), order(p3, p4);
  order(p6, p7), order(p1, p2), order(p4, p5), order(p7, p8), order(p0, p3);
  order(p5, p8), order(p4, p7), order(p3, p6), order(p1, p4), order(p2, p5);
  order(p4, p7), order(p4, p2), order(p6, p4), order(p4, p2);
  out[y * w + x] = p4;
#elif OP == 3
  uchar least = 255;
#pragma unroll
  for (int b = 0; b < 3; ++b)
#pragma unroll
    for (int a = 0; a < 3; ++a)
      least = min(least, s[j + b][i + a]);
  out[y * w + x] = least;
#else
  out[y * w + x] = plus(plus(quarter(s[j][i + 1]), quarter(s[j + 2][i + 1])),
                        plus(quarter(s[j + 1][i]), quarter(s[j + 1][i + 2])));
#endif
}

static void launch(const PIXEL *in, PIXEL *out, int w, int h) {
  filter<<<dim3((w + BX - 1) / BX, (h + BY - 1) / BY), dim3(BX, BY)>>>(in, out,
                                                                       w, h);
}

int main(int argc, char **argv) {
  bench::measure2d<PIXEL>(
      bench::label(argc, argv), "filter" STRING(OP) "-" STRING(PIXEL),
      STRING(BX) "x" STRING(BY), 0, launch, sizeof(PIXEL) > 4 ? 8192 : 16384);
  return 0;
}
