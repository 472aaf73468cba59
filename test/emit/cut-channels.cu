// Loops over interleaved channels: rounds store to different residues of their number.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'channels'
// TEXT: rounds_of_block({{$}}
// TEXT-NEXT: channels{{_rc,}}
// One more round than channels meets the next point; so do rounds of every second one
// of twice as many.
// TEXT-NOT: rounds_of_block{{[(]}}
// SAME: equivalent: 3 launches
#include "program.h"

__constant__ float mask[25];

#define KERNEL(name, rounds, at)                                                       \
  __global__ void name(const float *I, float *P, int ch, int width, int height) {      \
    __shared__ float s[20][20];                                                        \
    for (int k = 0; k < rounds; ++k) {                                                 \
      for (int e = threadIdx.y * 16 + threadIdx.x; e < 400; e += 256) {                \
        int sy = blockIdx.y * 16 + e / 20 - 2, sx = blockIdx.x * 16 + e % 20 - 2;      \
        s[e / 20][e % 20] = sy >= 0 && sy < height && sx >= 0 && sx < width            \
                                ? I[(sy * width + sx) * ch + k]                        \
                                : 0.f;                                                 \
      }                                                                                \
      __syncthreads();                                                                 \
      float acc = 0;                                                                   \
      for (int y = 0; y < 5; y++)                                                      \
        for (int x = 0; x < 5; x++)                                                    \
          acc += s[threadIdx.y + y][threadIdx.x + x] * mask[y * 5 + x];                \
      int oy = blockIdx.y * 16 + threadIdx.y, ox = blockIdx.x * 16 + threadIdx.x;      \
      if (oy < height && ox < width)                                                   \
        P[at] = acc;                                                                   \
      __syncthreads();                                                                 \
    }                                                                                  \
  }
KERNEL(channels, ch, (oy * width + ox) * ch + k)
KERNEL(oneMore, ch + 1, (oy * width + ox) * ch + k)
KERNEL(second, ch, (oy * width + ox) * ch + 2 * k)

int main(int argc, char **) {
  const int w = 900 * argc, h = 20, ch = 3; // no constant
  Buffer<float> in(randoms<float>(w * h * ch + 64)), out(w * h * ch + 64);
  float m[25];
  for (int i = 0; i < 25; ++i)
    m[i] = i - 11;
  cudaMemcpyToSymbol(mask, m, sizeof m);
  const dim3 grid((w + 15) / 16, (h + 15) / 16), block(16, 16);
  channels<<<grid, block>>>(in.Data, out.Data, ch, w, h);
  out.show("channels");
  oneMore<<<argc, block>>>(in.Data, out.Data, ch, 1, 1);
  out.show("oneMore");
  second<<<argc, block>>>(in.Data, out.Data, ch, 1, 1);
  out.show("second");
}
