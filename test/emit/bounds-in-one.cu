// Bounds by one comparison without a sign: 0 <= x && x < w, as signed numbers.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: not grep "4294967[0-9]*LL" %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'filter'
// CHECK-DAG: rewrote 'line'
// CHECK-DAG: rewrote 'within'
// SAME: equivalent: 5 launches {{.*}}; 5 by a rewritten kernel
#include "program.h"

__global__ void filter(const float *in, float *out, int w, int h) {
  __shared__ float s[20 * 20];
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 20 * 20; i += 256) {
    const int y = blockIdx.y * 16 - 2 + i / 20, x = blockIdx.x * 16 - 2 + i % 20;
    float v = 0;
    if (unsigned(x) < unsigned(w) && unsigned(y) < unsigned(h))
      v = in[y * w + x];
    s[i] = v;
  }
  __syncthreads();
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= w || y >= h)
    return;
  float sum = 0;
#pragma unroll
  for (int dy = 0; dy < 5; ++dy)
#pragma unroll
    for (int dx = 0; dx < 5; ++dx)
      sum += s[(threadIdx.y + dy) * 20 + threadIdx.x + dx];
  out[y * w + x] = sum;
}

__global__ void line(const int *in, int *out, int n) {
  __shared__ int s[132];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int e = t; e < 132; e += 128) {
    int x = (int)(blockIdx.x * 128) + e - 2;
    s[e] = (unsigned)x >= (unsigned)n ? -1 : in[x];
  }
  __syncthreads();
  if (g < n)
    out[g] = s[t] + 2 * s[t + 1] + 3 * s[t + 2] + 4 * s[t + 3] + 5 * s[t + 4];
}

__global__ void within(const int *in, int *out, int n, int last) {
  __shared__ int s[132];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int e = t; e < 132; e += 128) {
    int x = (int)(blockIdx.x * 128) + e - 2;
    s[e] = static_cast<unsigned>(last) >= static_cast<unsigned>(x) ? in[x] : 7;
  }
  __syncthreads();
  if ((unsigned)g < 300u && g < n)
    out[g] = s[t] - s[t + 4];
}

int main() {
  const int w = 70, h = 45, n = 1000;
  Buffer<float> a(randoms<float>(w * h)), b(w * h);
  filter<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(a.Data, b.Data, w, h);
  b.show("filter");
  Buffer<int> in(randoms<int>(n)), out(n);
  line<<<8, 128>>>(in.Data, out.Data, n);
  out.show("line");
  line<<<8, 128>>>(in.Data, out.Data, 1);
  out.show("line");
  within<<<8, 128>>>(in.Data, out.Data, n, n - 1);
  out.show("within");
  within<<<8, 128>>>(in.Data, out.Data, n, 0);
  out.show("within");
}
