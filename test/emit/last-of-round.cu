// A tile of 10 x 10 that a block of 8 x 8 fills in line order: element 63 is the
// last of a round, and its value an exception to no formula.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda --force --coarsen=4 -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// CHECK: rewrote 'box' {{.*}}'tile' reloaded
#include "program.h"

__global__ void box(const unsigned char *__restrict__ in, int *__restrict__ out,
                    int w, int h) {
  __shared__ unsigned char tile[10][10];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x0 = blockIdx.x * 8, y0 = blockIdx.y * 8;
  for (int e = ty * 8 + tx; e < 100; e += 64) {
    const int row = e / 10, col = e % 10;
    const int sx = x0 + col - 1, sy = y0 + row - 1;
    tile[row][col] =
        sx >= 0 && sx < w && sy >= 0 && sy < h ? in[sy * w + sx] : 0;
  }
  __syncthreads();
  if (x0 + tx < w && y0 + ty < h) {
    int sum = 0;
    for (int j = 0; j <= 2; ++j)
      for (int i = 0; i <= 2; ++i)
        sum += tile[ty + j][tx + i];
    out[(y0 + ty) * w + x0 + tx] = sum;
  }
}

int main() {
  // Blocks that the file does not tell.
  volatile int side = 8;
  const int sizes[][2] = {{19, 16}, {64, 33}, {7, 9}};
  for (auto &z : sizes) {
    const int w = z[0], h = z[1], b = side;
    Buffer<unsigned char> in(randoms<unsigned char>(w * h));
    Buffer<int> out(w * h);
    box<<<dim3(blocks(w, 8), blocks(h, 8)), dim3(b, b)>>>(in.Data, out.Data, w,
                                                         h);
    out.show("box", w, h);
  }
}
