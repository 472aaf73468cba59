// Lines a pitch in bytes apart: the source index counts elements when the launch
// finds the pitch to be whole elements, and the original runs when it is not.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
//
// CHECK-DAG: rewrote 'laplace' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'box' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'wide' {{.*}}'s' reloaded
// TEXT-DAG: (spitch % 4 == 0)
// TEXT-DAG: (pitch % 4 == 0)
// TEXT-DAG: store_run<16>((uchar4 *)dst +
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
#include "program.h"

typedef unsigned char uchar;
__global__ void laplace(const float *src, size_t spitch, float *dst,
                        size_t dpitch, int w, int h) {
  __shared__ float s[18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int j = threadIdx.y; j < 18; j += 16)
    for (int i = threadIdx.x; i < 18; i += 16) {
      int gx = (int)blockIdx.x * 16 + i - 1, gy = (int)blockIdx.y * 16 + j - 1;
      float v = 0;
      if (gx >= 0 && gy >= 0 && gx < w && gy < h)
        v = ((const float *)((const char *)src + gy * spitch))[gx];
      s[j][i] = v;
    }
  __syncthreads();
  if (x < w && y < h) {
    float *row = (float *)((char *)dst + y * dpitch);
    row[x] =
        4 * s[threadIdx.y + 1][threadIdx.x + 1] -
        s[threadIdx.y][threadIdx.x + 1] - s[threadIdx.y + 2][threadIdx.x + 1] -
        s[threadIdx.y + 1][threadIdx.x] - s[threadIdx.y + 1][threadIdx.x + 2];
  }
}
// clamped rows, uchar base pointer, int pitch
__global__ void box(const uchar *src, uchar *dst, int pitch, int w, int h) {
  __shared__ uchar4 s[10][34];
  for (int j = threadIdx.y; j < 10; j += 8)
    for (int i = threadIdx.x; i < 34; i += 32) {
      int gx = min(max((int)(blockIdx.x * 32) + i - 1, 0), w - 1),
          gy = min(max((int)(blockIdx.y * 8) + j - 1, 0), h - 1);
      s[j][i] = ((const uchar4 *)(src + gy * pitch))[gx];
    }
  __syncthreads();
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int r = 0, g = 0, b = 0;
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++) {
      uchar4 c = s[threadIdx.y + j][threadIdx.x + i];
      r += c.x;
      g += c.y;
      b += c.z;
    }
  ((uchar4 *)(dst + y * pitch))[x] = make_uchar4(r / 9, g / 9, b / 9, 255);
}
// size_t throughout: a row in front of the image wraps, its address does not
__global__ void wide(const float *in, float *out, size_t w, size_t h) {
  __shared__ float s[18][18];
  const size_t x = blockIdx.x * 16 + threadIdx.x,
               y = blockIdx.y * 16 + threadIdx.y;
  for (int j = threadIdx.y; j < 18; j += 16)
    for (int i = threadIdx.x; i < 18; i += 16) {
      const int gx = (int)blockIdx.x * 16 + i - 1,
                gy = (int)blockIdx.y * 16 + j - 1;
      s[j][i] = gx >= 0 && gx < (int)w && gy >= 0 && gy < (int)h
                    ? in[(size_t)gy * w + gx]
                    : 0.f;
    }
  __syncthreads();
  if (x < w && y < h)
    out[y * w + x] =
        s[threadIdx.y][threadIdx.x] + s[threadIdx.y + 2][threadIdx.x + 2];
}

int main() {
  const int Sizes[][2] = {{1, 1}, {33, 17}, {64, 64}, {100, 37}, {5, 70}};
  for (auto &S : Sizes) {
    const int w = S[0], h = S[1], p = blocks(w, 32) * 32;
    Buffer<float> a(randoms<float>(p * h)), b(p * h), c(randoms<float>(w * h)),
        d(w * h);
    Buffer<uchar> e(randoms<uchar>(p * h * 4)), f(p * h * 4);
    const dim3 Block(16, 16), Grid(blocks(w, 16), blocks(h, 16));
    laplace<<<Grid, Block>>>(a.Data, p * 4, b.Data, p * 4, w, h);
    b.show("laplace", w, h);
    laplace<<<dim3(blocks(w, 16)), Block>>>(a.Data, 4 * p + 2, b.Data, 1, w, 1);
    b.show("one line, an odd pitch", w, h);
    box<<<dim3(blocks(w, 32), blocks(h, 8)), dim3(32, 8)>>>(e.Data, f.Data,
                                                            p * 4, w, h);
    f.show("box", w, h);
    wide<<<Grid, Block>>>(c.Data, d.Data, w, h);
    d.show("wide", w, h);
  }
}
