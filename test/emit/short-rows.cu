// Rows of one-dimensional blocks: where both ends of a row are loaded element by element
// and rows are short, that takes longer than is gained, and the original runs. And clamped
// indices do not count down from a pointer, if there is an element at all: then arrays
// that lie side by side are different ones.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
#include "program.h"

#define NT 128

// CHECK-DAG: rewrote 'edges'
// TEXT-DAG: fills(dim3({{[a-z]+}}_grid.x), 1u,
__global__ void edges(const unsigned char *src, unsigned char *dst, int words) {
  __shared__ uchar4 line[NT + 2];
  const uchar4 *row = (const uchar4 *)src + (size_t)blockIdx.y * words;
  int t = threadIdx.x, w = blockIdx.x * NT + t;
  if (w < words) {
    line[t + 1] = row[w];
    if (t == 0) {
      uchar4 first = row[w > 0 ? w - 1 : 0];
      if (w == 0)
        first.w = first.x;
      line[0] = first;
    }
    if (t == NT - 1 || w == words - 1) {
      uchar4 last = row[w + 1 < words ? w + 1 : w];
      if (w == words - 1)
        last.x = last.w;
      line[t + 2] = last;
    }
  }
  __syncthreads();
  if (w < words) {
    const unsigned char *p = (const unsigned char *)line + 4 * (t + 1);
    uchar4 r;
    r.x = (p[-1] + p[1]) / 2;
    r.y = (p[0] + p[2]) / 2;
    r.z = (p[1] + p[3]) / 2;
    r.w = (p[2] + p[4]) / 2;
    ((uchar4 *)dst)[(size_t)blockIdx.y * words + w] = r;
  }
}

// CHECK-DAG: rewrote 'range'
// TEXT-DAG: separate(x, most)) && (n >= 1)
__global__ void range(const float *x, float *most, int n) {
  __shared__ float s[NT];
  const int t = threadIdx.x, g = blockIdx.x * NT + t;
  s[t] = x[min(g, n - 1)];
  __syncthreads();
  for (int d = NT / 2; d > 0; d /= 2) {
    if (t < d)
      s[t] = fmaxf(s[t], s[t + d]);
    __syncthreads();
  }
  if (t == 0)
    most[blockIdx.x] = s[0];
}

int main(int argc, char **) {
  const int words = 300 * argc, rows = 7, n = 1000 * argc; // no constants
  Buffer<unsigned char> a(randoms<unsigned char>(4 * words * rows)), b(4 * words * rows);
  edges<<<dim3(blocks(words, NT), rows), NT>>>(a.Data, b.Data, words);
  b.show("edges");
  Buffer<float> x(randoms<float>(n)), most(blocks(n, NT));
  range<<<blocks(n, NT), NT>>>(x.Data, most.Data, n);
  most.show("range");
}
