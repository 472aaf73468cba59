// REQUIRES: cuda-toolkit
// RUN: %check run %s | FileCheck %s
// Mathematics of libdevice, conversions, integer intrinsics, half precision.
#include <cmath>
#include <cstdio>
#include <cuda_fp16.h>

__global__ void math(float *o, double *d, const float *in) {
  float x = in[0], y = in[1];
  int i = 0;
  o[i++] = sinf(x);
  o[i++] = cosf(x);
  o[i++] = expf(y);
  o[i++] = logf(x);
  o[i++] = powf(x, y);
  o[i++] = sqrtf(x);
  o[i++] = rsqrtf(x);
  o[i++] = fmaf(x, y, 3.0f);
  o[i++] = atan2f(x, y);
  o[i++] = tanhf(y);
  o[i++] = fmodf(x, y);
  o[i++] = sinf(in[2]); // the slow path of the argument reduction
  d[0] = sin((double)x);
  d[1] = exp((double)y);
  d[2] = pow((double)x, (double)y);
  d[3] = x / (double)y;
}
__global__ void bits(int *o, float x, unsigned u, int s) {
  int i = 0;
  o[i++] = __popc(u);
  o[i++] = __clz(u);
  o[i++] = __ffs(u);
  o[i++] = __brev(u);
  o[i++] = __float_as_int(x);
  o[i++] = __float2int_rn(x);
  o[i++] = __float2int_rz(x);
  o[i++] = __float2int_ru(x);
  o[i++] = (int)(x * 1e20f);        // saturates
  o[i++] = (unsigned)(-x);          // saturates at 0
  o[i++] = __mulhi(s, s);
  o[i++] = __umulhi(u, u);
  o[i++] = __byte_perm(u, s, 0x5410);
  o[i++] = __sad(s, 3, 1);
  o[i++] = min(s, -1) + max(s, -2);
  o[i++] = __funnelshift_l(u, s, 4);
  o[i++] = __dp4a(0x01020304, 0x01010101, 1);
}
__global__ void halves(float *o, const float *in) {
  __half a = __float2half(in[0]), b = __float2half(in[1]);
  o[0] = __half2float(__hadd(a, b));
  o[1] = __half2float(__hmul(a, b));
  o[2] = __half2float(__hfma(a, b, a));
  o[3] = __hlt(b, a);
  __half2 v = __halves2half2(a, b);
  v = __hadd2(v, v);
  o[4] = __low2float(v);
  o[5] = __high2float(v);
}
int main() {
  float h[16], in[3] = {2.25f, 1.5f, 123456.0f}, *o, *di;
  double d[4], *dd;
  int b[32], *ob;
  cudaMalloc(&o, sizeof(h));
  cudaMalloc(&dd, sizeof(d));
  cudaMalloc(&ob, sizeof(b));
  cudaMalloc(&di, sizeof(in));
  cudaMemcpy(di, in, sizeof(in), cudaMemcpyHostToDevice);
  math<<<1, 1>>>(o, dd, di);
  cudaMemcpy(h, o, sizeof(h), cudaMemcpyDeviceToHost);
  cudaMemcpy(d, dd, sizeof(d), cudaMemcpyDeviceToHost);
  float x = in[0], y = in[1];
  float want[] = {sinf(x),  cosf(x),     expf(y),     logf(x),
                  powf(x, y), sqrtf(x),  1 / sqrtf(x), x * y + 3,
                  atan2f(x, y), tanhf(y), fmodf(x, y), sinf(in[2])};
  int bad = 0;
  for (int i = 0; i < 12; ++i)
    if (!(fabsf(h[i] - want[i]) <= 2e-6f * fabsf(want[i]) + 1e-7f)) {
      ++bad;
      printf("%d: %g, expected %g\n", i, h[i], want[i]);
    }
  double wantD[] = {sin((double)x), exp((double)y), pow((double)x, (double)y),
                    x / (double)y};
  for (int i = 0; i < 4; ++i)
    bad += !(fabs(d[i] - wantD[i]) <= 1e-14 * fabs(wantD[i]));
  printf("math: %d\n", bad);
  // CHECK: math: 0
  bits<<<1, 1>>>(ob, 2.5f, 0x00f0000fu, -7);
  cudaMemcpy(b, ob, sizeof(b), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 17; ++i)
    printf("%x ", b[i]);
  printf("\n");
  // CHECK: 8 8 1 f0000f00 40200000 2 2 3 7fffffff 0 0 e100 fff9000f b fffffff7 ffffff90 b
  halves<<<1, 1>>>(o, di);
  cudaMemcpy(h, o, 24, cudaMemcpyDeviceToHost);
  printf("%g %g %g %g %g %g\n", h[0], h[1], h[2], h[3], h[4], h[5]);
  // CHECK: 3.75 3.375 5.625 1 4.5 3
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  // CHECK: no error
}
