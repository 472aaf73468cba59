// With -fmad=false compilers fuse nothing, so it is all the same what stands around a sum.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs -fmad=false \
// RUN:   2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -fmad=false -DRCACHE_ANY_LAUNCH 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DIFF
// RUN: rcache-rewrite %s --force -o %t.clang.cu --cuda-path=%cuda -- -I%S/Inputs \
// RUN:   -ffp-contract=off 2>&1 | FileCheck %s
// RUN: rcache-rewrite %s --force -o %t.fused.cu --cuda-path=%cuda -- -I%S/Inputs -fmad=true \
// RUN:   2>&1 | FileCheck %s --check-prefix=FUSED
// DIFF: equivalent: 6 launches compared, {{.*}}; 6 by a rewritten kernel
// FUSED-DAG: 'rotated' left as it is: {{.*}} [fusion-unsettled]
// FUSED-DAG: 'deviation' left as it is: {{.*}} [fusion-unsettled]
#include "program.h"

// CHECK-DAG: rewrote 'rotated'
__global__ void rotated(const float2 *__restrict__ a, float2 *__restrict__ out, int n) {
  __shared__ float2 s[132];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int i = t; i < 132; i += 128) {
    const int q = (int)(blockIdx.x * 128) + i - 2;
    s[i] = q >= 0 && q < n ? a[q] : make_float2(0, 0);
  }
  __syncthreads();
  const float2 x = s[t], y = s[t + 3];
  float2 r;
  r.x = x.x * y.x - x.y * y.y;
  r.y = x.x * y.y + x.y * y.x;
  if (g < n)
    out[g] = r;
}
// CHECK-DAG: rewrote 'deviation'
__global__ void deviation(const float *__restrict__ a, float *__restrict__ out, int n, float w) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int i = t; i < 130; i += 128) {
    const int q = (int)(blockIdx.x * 128) + i - 1;
    s[i] = q >= 0 && q < n ? a[q] : 0;
  }
  __syncthreads();
  const float mean = (s[t] + s[t + 1] + s[t + 2]) / w;
  if (g < n)
    out[g] = (s[t] * s[t] + s[t + 1] * s[t + 1] + s[t + 2] * s[t + 2]) / w - mean * mean;
}

int main() {
  for (int n : {1000, 2311, 256}) {
    const Buffer<float> a(randoms<float>(2 * n));
    Buffer<float> b(2 * n), c(n);
    rotated<<<blocks(n, 128), 128>>>((const float2 *)a.Data, (float2 *)b.Data, n);
    b.show("rotated", 2 * n);
    deviation<<<blocks(n, 128), 128>>>(a.Data, c.Data, n, 3.f), c.show("deviation", n);
  }
}
