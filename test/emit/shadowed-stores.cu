// A store whose index and whose guard name two variables of one name: both would be
// declared in one place.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --distribution=cyclic -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH
// CHECK: rewrote 'k'
#include "program.h"
__global__ void k(const float *a, float *out, size_t n) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  const size_t g = blockIdx.x * blockDim.x + t;
  s[t] = g < n ? a[g] : 0.0f;
  __syncthreads();
  if (g < n) {
    float acc = s[(t + 1) % 32 + t / 32 * 32];
    {
      const int v = g;
      {
        const auto g = v;
        out[g] = acc;
      }
    }
  }
}
int main() {
  for (int n : {1000, 128, 5}) {
    const Buffer<float> a(randoms<float>(n));
    Buffer<float> b(n);
    k<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("k", n);
  }
}
