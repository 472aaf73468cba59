// Loops whose condition counts: in the body the counter is one less than what the
// condition asked about.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH
// RUN: rcache-rewrite %s --force --coarsen=8 -o %t.8.cu --cuda-path=%cuda -- -I%S/Inputs
// RUN: rcache-check diff %s %t.8.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH
// RUN: rcache-rewrite %s --force --exchange=shuffle -o %t.s.cu --cuda-path=%cuda -- -I%S/Inputs
// RUN: rcache-check diff %s %t.s.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH
#include "program.h"

__global__ void down(const float *__restrict__ a, float *__restrict__ out, int n) {
  __shared__ float s[8 * 32];
  const int t = threadIdx.x, g = (int)blockIdx.x * 256 + t, r = t / 32, c = t - r * 32;
  s[(r * 32 + c)] = (g < n ? a[g] : 0.f);
  __syncthreads();
  if (g < n) {
    float acc = 0;
    if (c > 0)
      acc += s[r * 32 + (c - 1)];
    acc -= s[((r + 1) % 8) * 32 + c];
    for (int k = 32; k-- > 0;) {
      acc += s[r * 32 + k];
    }
    out[g] = acc;
  }
}
__global__ void columns(const float *a, const float *b, float *out, int n) {
  __shared__ float s[4 * 16];
  __shared__ float q[4];
  const int t = threadIdx.x, g = (int)blockIdx.x * 64 + t, r = t >> 4, c = t & 15;
  s[(r * 16 + c)] = (g < n ? a[g] : 0.f);
  if (c == 0)
    q[r] = b[r];
  __syncthreads();
  if (g >= n)
    return;
  float acc = 0;
  acc += s[r * 16 + ((c + 1) % 16)];
  acc += s[r * 16 + 0] * q[r];
  for (int k = 4; k-- > 0;) {
    acc += s[k * 16 + c];
  }
  out[g] = acc;
}
__global__ void until(const float *a, float *out, int n) {
  __shared__ float s[128 + 8];
  const int t = threadIdx.x, g = (int)blockIdx.x * 128 + t;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 8)
    s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  float acc = 0;
  int k = -1;
  while (++k < 9)
    acc += s[t + k];
  unsigned m = 4;
  while (m--)
    acc -= s[t + m];
  if (g < n)
    out[g] = acc;
}

int main() {
  for (int n : {1000, 2311, 256}) {
    const Buffer<float> a(randoms<float>(n));
    Buffer<float> b(n);
    down<<<blocks(n, 256), 256>>>(a.Data, b.Data, n), b.show("down", n);
    columns<<<blocks(n, 64), 64>>>(a.Data, a.Data, b.Data, n), b.show("columns", n);
    until<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("until", n);
  }
}
