// Words that travel as floats: many are no numbers, each of other bits. A sum, which keeps a
// product rounded, makes one of them all; what only passes bits on is chosen beside it.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=off --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu
// RUN: rcache-check diff %s %t.cu --device-code=clang
// CHECK-DAG: rewrote 'tagged' {{.*}}reloaded
// CHECK-DAG: rewrote 'chosen'
#include <cstdio>

#define SHARE(NAME, VALUE)                                                     \
  __global__ void NAME(const float *a, int *out, int n) {                      \
    __shared__ float s[198];                                                   \
    const int t = threadIdx.x, g = blockIdx.x * 192 + t;                       \
    for (int l = t; l < 198; l += 192) {                                       \
      const int e = (int)(blockIdx.x * 192) + l - 3;                           \
      s[l] = e >= 0 && e < n ? VALUE : 0.f;                                    \
    }                                                                          \
    __syncthreads();                                                           \
    int x = 0;                                                                 \
    for (int k = 0; k < 7; ++k)                                                \
      x ^= __float_as_int(s[t + k]) * (k + 1);                                 \
    if (g < n)                                                                 \
      out[g] = x;                                                              \
  }

SHARE(tagged, __int_as_float(__float_as_int(a[e]) | 1))
SHARE(chosen, e % 3 ? a[e] : e % 5 ? __int_as_float(~__float_as_int(a[e])) : a[e] * 2.f)

int main() {
  const int n = 1001;
  int host[n], *out;
  float *a;
  for (int i = 0; i < n; ++i)
    host[i] = i % 50 - 25;
  cudaMalloc(&a, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  for (int k = 0; k < 2; ++k) {
    if (k)
      chosen<<<(n + 191) / 192, 192>>>(a, out, n);
    else
      tagged<<<(n + 191) / 192, 192>>>(a, out, n);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 5; ++i)
      printf("%08x ", host[i * 171]);
  }
}
