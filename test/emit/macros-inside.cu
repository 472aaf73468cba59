// Macros that a kernel defines for itself, and undefines again: the new kernel has both
// directives, so that they mean there what they mean here.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'sobel'
// CHECK-DAG: rewrote 'twice'
// Undefined behind the kernel, and behind the new one.
// CHECK-DAG: rewrote 'outlives'
// CHECK-DAG: rewrote 'chosen'
// SAME: equivalent: {{.*}}; {{[1-9]}}{{.*}} by a rewritten kernel
#include "program.h"

__global__ void sobel(const unsigned char *in, unsigned char *out, int w, int h) {
  __shared__ unsigned char tile[10][34];
  const int bx = blockIdx.x * 32 - 1, by = blockIdx.y * 8 - 1;
  for (int y = threadIdx.y; y < 10; y += 8)
    for (int x = threadIdx.x; x < 34; x += 32)
      tile[y][x] = in[min(max(by + y, 0), h - 1) * w + min(max(bx + x, 0), w - 1)];
  __syncthreads();
  const int x = threadIdx.x + 1, y = threadIdx.y + 1;
  if (bx + x >= w || by + y >= h)
    return;
#define P(dy, dx)                                                              \
  ((int)tile[y + (dy)][x + (dx)])
  const int a = P(-1, 1) + 2 * P(0, 1) + P(1, 1) - P(-1, -1) - 2 * P(0, -1) - P(1, -1);
  const int b = P(1, -1) + 2 * P(1, 0) + P(1, 1) - P(-1, -1) - 2 * P(-1, 0) - P(-1, 1);
#undef P
  const int m = abs(a) + abs(b);
  out[(by + y) * w + bx + x] = m > 255 ? 255 : m;
}

// The same name for other things, in the kernel's own words.
__global__ void twice(const int *in, int *out, int n) {
#define Q 3
  __shared__ int s[130];
  const int g = blockIdx.x * 128 + threadIdx.x, t = threadIdx.x;
  s[t] = g < n ? in[g] * Q : 0;
  if (t < 2)
    s[t + 128] = g + 128 < n ? in[g + 128] * Q : 0;
#undef Q
  __syncthreads();
#define Q(i) s[t + (i)]
  if (g < n)
    out[g] = Q(0) - 2 * Q(1) + Q(2);
#undef Q
}

__global__ void outlives(const int *in, int *out, int n) {
  __shared__ int s[129];
  const int g = blockIdx.x * 128 + threadIdx.x, t = threadIdx.x;
  s[t] = g < n ? in[g] : 0;
  if (t == 0)
    s[128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
#define Q(i) s[t + (i)]
  if (g < n)
    out[g] = Q(0) - 2 * Q(1);
}
#undef Q

#define Q 5
__global__ void chosen(const int *in, int *out, int n) {
#if defined(NOWHERE)
#define Q 7
#endif
  __shared__ int s[129];
  const int g = blockIdx.x * 128 + threadIdx.x, t = threadIdx.x;
  s[t] = g < n ? in[g] : 0;
  if (t == 0)
    s[128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  if (g < n)
    out[g] = Q * s[t] - s[t + 1];
}
#undef Q
enum { Q = 11 };

int main() {
  const int w = 150, h = 37;
  Buffer<unsigned char> picture(randoms<unsigned char>(w * h)), edges(w * h);
  sobel<<<dim3(blocks(w, 32), blocks(h, 8)), dim3(32, 8)>>>(picture.Data, edges.Data, w, h);
  edges.show("sobel", w, h);
  for (int n : {1000, 128, 77}) {
    Buffer<int> in(randoms<int>(n)), out(n);
    twice<<<blocks(n, 128), 128>>>(in.Data, out.Data, n);
    out.show("twice", n);
    outlives<<<blocks(n, 128), 128>>>(in.Data, out.Data, n + Q - 11);
    out.show("outlives", n);
    chosen<<<blocks(n, 128), 128>>>(in.Data, out.Data, n);
    out.show("chosen", n);
  }
}
