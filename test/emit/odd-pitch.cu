// Rows of the result are one shorter than those of the image: whether vectors
// start where they may hangs on both pitches, and rows of one thread are runs of
// their own.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=TAKEN %s
//
// CHECK: rewrote 'corners'
// CHECK: where vectors would not start at multiples of 16 bytes: {{.*}} predicted speed-up
// TEXT: (w - 1) % 8 == 0
// TAKEN: equivalent: {{.*}}; 4 by a rewritten kernel
#include "program.h"

__global__ void corners(const unsigned char *__restrict__ in,
                        short *__restrict__ out, int w, int h) {
  __shared__ unsigned char s[5][65];
  const int x0 = blockIdx.x * 64, y0 = blockIdx.y * 4;
  for (int r = threadIdx.y; r <= 4; r += 4)
    for (int c = threadIdx.x; c <= 64; c += 64)
      s[r][c] = x0 + c < w && y0 + r < h ? in[(y0 + r) * w + x0 + c] : 0;
  __syncthreads();
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  if (x < w - 1 && y < h - 1)
    out[y * (w - 1) + x] =
        s[threadIdx.y][threadIdx.x] + s[threadIdx.y][threadIdx.x + 1] +
        s[threadIdx.y + 1][threadIdx.x] + s[threadIdx.y + 1][threadIdx.x + 1];
}

void image(int w, int h) {
  Buffer<unsigned char> in(randoms<unsigned char>(w * h));
  Buffer<short> out(w * h);
  corners<<<dim3((w + 62) / 64, (h + 2) / 4), dim3(64, 4)>>>(in.Data, out.Data, w, h);
  out.show("corners", w - 1, h - 1);
}

int main() {
  image(65, 9);
  image(130, 21);
  image(257, 10);
  image(64, 5);
}
