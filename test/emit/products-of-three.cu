// Rows of a batch of images: an index has products of three factors, one of them
// blockIdx. Written out, they are of the type that the original computes in: a sum that is
// negative in a block's first thread would lie 16 GB further without a sign.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --self-check=off --force --arch=sm_90 -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK: rewrote 'blur'
// CHECK: rewrote 'places'
// CHECK: rewrote 'grids'
#include "buffers.h"

// The block's first thread computes nothing; the run that is stored begins with it.
// TEXT-LABEL: void blur_{{rc}}(
// TEXT: (int)(blockIdx.z * h * w)
__global__ void blur(const int *__restrict__ in, int *__restrict__ out, int w, int h) {
  __shared__ int s[128];
  int t = threadIdx.x, x = blockIdx.x * 126 + t - 1, y = blockIdx.y, z = blockIdx.z;
  bool ok = x >= 0 && x < w;
  s[t] = ok ? in[(z * h + y) * w + x] : 0;
  __syncthreads();
  if (ok && t > 0 && t < 127)
    out[(z * h + y) * w + x] = s[t - 1] + s[t] + s[t + 1];
}

// What is staged is the index itself.
__global__ void places(float *out, int w, int h) {
  __shared__ float s[130];
  int t = threadIdx.x, x0 = blockIdx.x * 128 - 1, y = blockIdx.y, z = blockIdx.z;
  for (int i = t; i < 130; i += 128)
    s[i] = (float)((z * h + y) * w + x0 + i);
  __syncthreads();
  int x = blockIdx.x * 128 + t;
  if (x < w)
    out[(z * h + y) * w + x] = s[t] - s[t + 2];
}

// gridDim, and a number twice.
__global__ void grids(const int *__restrict__ in, long long *out, int w) {
  __shared__ long long s[130];
  int t = threadIdx.x, x0 = blockIdx.x * 128 - 1, y = blockIdx.y, rows = gridDim.y,
      z = blockIdx.z;
  for (int i = t; i < 130; i += 128) {
    int x = x0 + i, at = (z * rows + y) * w + x - w * y * y;
    s[i] = x >= 0 && x < w ? in[(z * rows + y) * w + x] + (long long)at : at;
  }
  __syncthreads();
  int x = blockIdx.x * 128 + t;
  if (x < w)
    out[(z * rows + y) * w + x] = s[t] - s[t + 2];
}

int main() {
  const int w = 300, h = 5, d = 3;
  Buf<int> a(w * h * d), o(w * h * d, 2);
  Buf<float> f(w * h * d, 3);
  Buf<long long> l(w * h * d, 4);
  a.nums(7);
  CHECK((blur<<<dim3((w + 125) / 126, h, d), 128>>>(a.d, o.d, w, h)));
  show("blur", o);
  CHECK((places<<<dim3((w + 127) / 128, h, d), 128>>>(f.d, w, h)));
  show("places", f);
  CHECK((grids<<<dim3((w + 127) / 128, h, d), 128>>>(a.d, l.d, w)));
  show("grids", l);
}
