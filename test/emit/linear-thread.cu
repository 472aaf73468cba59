// A line staged by blocks of two dimensions through their linear index: the last
// thread of the block, 32 ty + tx = 63, bounds tx by a fraction.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite --force --coarsen=8 %s -o %t.cu --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check %s --kernel=line --rewritten=%t.cu --block=32,2,1 --trials=60
// CHECK: rewrote 'line'
#include <cuda_runtime.h>

__global__ void line(const float *__restrict__ in, float *__restrict__ out,
                     int n) {
  __shared__ float s[32 * 2 + 2];
  const int t = threadIdx.y * 32 + threadIdx.x;
  const int g = blockIdx.x * (32 * 2) + t;
  s[t + 1] = g < n ? in[g] : 0.0f;
  if (t == 0)
    s[0] = g > 0 && g - 1 < n ? in[g - 1] : 0.0f;
  if (t == 32 * 2 - 1)
    s[32 * 2 + 1] = g + 1 < n ? in[g + 1] : 0.0f;
  __syncthreads();
  if (g < n)
    out[g] = s[t] - s[t + 2] + s[t + 1];
}

void launch(const float *in, float *out, int n) {
  line<<<(n + 63) / 64, dim3(32, 2)>>>(in, out, n);
}
