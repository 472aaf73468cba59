// Parameters near the ends of int: a constant that is moved to the other side of a
// comparison does not wrap, or the launch runs the original.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --exchange=reload -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck --input-file=%t.remarks %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: FileCheck --check-prefix=TEXT --input-file=%t.cu %s
// CHECK: rewrote 'k'
// CHECK: rewrote 'members'
// TEXT: (n >= -2147483641)
// TEXT: (g.limit >= -2147483641)
// TEXT: (g.count <= 0x7fffffffu)
//
#include "sum3.h"
#include <climits>
__global__ void k(const float *in, float *out, int n, int m) {
  __shared__ float s[256 + 16]; const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n + 16 ? in[g] : 0; if (t < 16) s[t + 256] = g + 256 < n + 16 ? in[g + 256] : 0; __syncthreads();
  float v = 0; for (int i = 0; i < 17; ++i) v += s[t + i]; if (g < m) out[g] = v; }
// Members of a struct are parameters, too.
struct Size { int limit; unsigned count; };
__global__ void members(const float *in, float *out, Size g) {
  __shared__ float s[256 + 16]; const int t = threadIdx.x, x = blockIdx.x * 256 + t;
  s[t] = x < g.limit + 16 ? in[x] : 0; if (t < 16) s[t + 256] = x + 256 < g.limit + 16 ? in[x + 256] : 0; __syncthreads();
  float v = 0; for (int i = 0; i < 17; ++i) v += s[t + i]; if (x < g.count) out[x] = v; }
int main() { const int n = 5120; Buffer<float> a(randoms<float>(n)), b(n);
  for (int m : {n - 300, INT_MIN, INT_MIN + 3, INT_MIN + 20, -5, -16, 0}) { k<<<20, 256>>>(a.Data, b.Data, m, n); b.show("k", m);
    members<<<20, 256>>>(a.Data, b.Data, Size{m, n - 100u}); b.show("members", m); } }
