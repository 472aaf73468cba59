// The condition of a loop changes its counter: rounds take over what the condition left,
// not what the body did. (Barriers of such a tree were taken to order nothing.)
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --self-check=off --force --arch=sm_90 -o %t.cu --cuda-path=%cuda -- -I%S/Inputs
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
#include "buffers.h"

__global__ void counted(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float a = 0;
  for (int i = t; i < n; i += 256)
    a += in[i];
  s[t] = a;
  __syncthreads();
  for (int k = 7; k-- > 0;) {
    if (t < (1 << k))
      s[t] += s[t + (1 << k)];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

__global__ void whiles(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = t < n ? in[t] : 0;
  __syncthreads();
  int k = 8;
  while (--k >= 0) {
    if (t < (1 << k))
      s[t] += s[t + (1 << k)];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

int main() {
  Buf<float> in(1000), out(3);
  in.nums(3);
  CHECK((counted<<<3, 256>>>(in.d, out.d, 1000)));
  show("counted", out);
  CHECK((whiles<<<3, 256>>>(in.d, out.d, 200)));
  show("whiles", out);
}
