// A pragma to unroll that a macro stands for is the loop's: one that is written anew has
// one, not two (which clang refuses).
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --self-check=off --force --arch=sm_90 -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK: rewrote 'box'
// TEXT-LABEL: void box_{{rc}}(
// TEXT-NOT: UNROLL
// TEXT-LABEL: void box_{{rc}}_launch(
#include "buffers.h"
#define UNROLL _Pragma("unroll")

__global__ void box(const int *__restrict__ in, int *__restrict__ out, int w, int h) {
  __shared__ int s[10][34];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
  for (int j = ty; j < 10; j += 8)
    for (int i = tx; i < 34; i += 32) {
      int gx = blockIdx.x * 32 + i - 1, gy = blockIdx.y * 8 + j - 1;
      s[j][i] = gx >= 0 && gx < w && gy >= 0 && gy < h ? in[gy * w + gx] : 0;
    }
  __syncthreads();
  if (x >= w || y >= h)
    return;
  int r = 0;
  UNROLL for (int j = 0; j < 3; ++j)
    UNROLL for (int i = 0; i < 3; ++i)
      r = r * 3 + s[ty + j][tx + i];
  out[y * w + x] = r;
}

int main() {
  const int w = 100, h = 50;
  Buf<int> a(w * h), o(w * h, 2);
  a.nums(7);
  CHECK((box<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(a.d, o.d, w, h)));
  show("box", o);
}
