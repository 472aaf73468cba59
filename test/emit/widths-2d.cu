// Halo tiles whose coordinates and sizes have types of several widths, with and without a
// sign: what wraps at the left edge is outside all the same.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DIFF
// DIFF: equivalent: 12 launches compared, {{.*}}; {{8|12}} by a rewritten kernel
#include "program.h"

#define KERNEL(NAME, WIDTH, HEIGHT, X, INSIDE)                                           \
  __global__ void NAME(const int *__restrict__ a, int *__restrict__ out, WIDTH w,        \
                       HEIGHT h) {                                                       \
    __shared__ int s[10][18];                                                            \
    const int tx = threadIdx.x, ty = threadIdx.y;                                        \
    for (int j = ty; j < 10; j += 8)                                                     \
      for (int i = tx; i < 18; i += 16) {                                                \
        X x = blockIdx.x * 16 + i - 1;                                                   \
        int y = blockIdx.y * 8 + j - 1;                                                  \
        s[j][i] = INSIDE && y >= 0 && y < (int)h ? a[y * w + x] : 0;                     \
      }                                                                                  \
    __syncthreads();                                                                     \
    const int gx = blockIdx.x * 16 + tx, gy = blockIdx.y * 8 + ty;                       \
    if (gx < (int)w && gy < (int)h)                                                      \
      out[gy * (int)w + gx] = s[ty][tx] + s[ty + 2][tx + 1];                             \
  }
// CHECK-DAG: rewrote 'both' ({{.*}}): {{[0-9]+}} outputs a thread; 's' reloaded
KERNEL(both, size_t, size_t, unsigned, x < w)
// CHECK-DAG: rewrote 'narrowed' ({{.*}}): {{[0-9]+}} outputs a thread; 's' reloaded
KERNEL(narrowed, size_t, size_t, unsigned, x < (unsigned)w)
// CHECK-DAG: rewrote 'wide' ({{.*}}): {{[0-9]+}} outputs a thread; 's' reloaded
KERNEL(wide, unsigned, int, size_t, x < w)
// CHECK-DAG: rewrote 'longs' ({{.*}}): {{[0-9]+}} outputs a thread; 's' reloaded
KERNEL(longs, long long, int, long long, x >= 0 && x < w)
// CHECK-DAG: rewrote 'mixed' ({{.*}}): {{[0-9]+}} outputs a thread; 's' reloaded
KERNEL(mixed, size_t, int, long long, x >= 0 && x < w)
// CHECK-DAG: rewrote 'plain' ({{.*}}): {{[0-9]+}} outputs a thread; 's' reloaded
KERNEL(plain, int, int, unsigned, x < w)

int main() {
  for (int w : {47, 128}) {
    const int h = 29;
    const Buffer<int> a(randoms<int>(w * h));
    Buffer<int> b(w * h);
    const dim3 grid(blocks(w, 16), blocks(h, 8)), block(16, 8);
    both<<<dim3(blocks(w, 16), blocks(h, 8)), dim3(16, 8)>>>(a.Data, b.Data, w, h), b.show("both", w, h);
    narrowed<<<grid, block>>>(a.Data, b.Data, w, h), b.show("narrowed", w, h);
    wide<<<grid, block>>>(a.Data, b.Data, w, h), b.show("wide", w, h);
    longs<<<grid, block>>>(a.Data, b.Data, w, h), b.show("longs", w, h);
    mixed<<<grid, block>>>(a.Data, b.Data, w, h), b.show("mixed", w, h);
    plain<<<grid, block>>>(a.Data, b.Data, w, h), b.show("plain", w, h);
  }
}
