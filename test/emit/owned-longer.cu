// Arrays that are longer than the block, with elements that are changed in place: those
// behind the block's threads are nobody's, so a warp that owns the array has no register
// for them. (What is never written has no value.)
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
// RUN: rcache-rewrite %s --force --distribution=cyclic -o %t.2.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs
// RUN: rcache-check diff %s %t.2.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'wrapOne' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'lift' {{.*}}; 's' kept shared
// CHECK-DAG: rewrote 'second'
// SAME: equivalent: 11 launches
#include "program.h"
#define B 128
__global__ void replicate(const int *f, int *o) {
  __shared__ int s[B + 2];
  int t = threadIdx.x, g = blockIdx.x * B + t;
  s[t + 1] = f[g];
  __syncthreads();
  if (t == 0) s[0] = s[1];
  if (t == B - 1) s[B + 1] = s[B];
  __syncthreads();
  o[g] = s[t] + s[t + 1] * 2 + s[t + 2];
}
__global__ void replicate2(const int *f, int *o) {
  __shared__ int s[B + 4];
  int t = threadIdx.x, g = blockIdx.x * B + t;
  s[t + 2] = f[g];
  __syncthreads();
  if (t < 2) { s[t] = s[2]; s[B + 2 + t] = s[B + 1]; }
  __syncthreads();
  o[g] = s[t] + s[t + 1] + s[t + 2] + s[t + 3] + s[t + 4];
}
__global__ void mirrorHalo(const int *f, int *o) {
  __shared__ int s[B + 4];
  int t = threadIdx.x, g = blockIdx.x * B + t;
  s[t + 2] = f[g];
  __syncthreads();
  if (t < 2) s[1 - t] = s[t + 3];
  if (t < 2) s[B + 2 + t] = s[B - t];
  __syncthreads();
  o[g] = s[t] - s[t + 1] + s[t + 2] - s[t + 3] + s[t + 4];
}
__global__ void wrapOne(const int *f, int *o) {
  __shared__ int s[B + 1];
  int t = threadIdx.x, g = blockIdx.x * B + t;
  s[t] = f[g];
  if (t == 0) s[B] = f[blockIdx.x * B];
  __syncthreads();
  int d = s[t + 1] - s[t];
  __syncthreads();
  s[t] = d;
  if (t == 0) s[B] = d;
  __syncthreads();
  o[g] = s[t + 1] - s[t];
}
// value of the left neighbour updated in place, array one longer
__global__ void lift(const int *f, int *o) {
  __shared__ int s[B + 1];
  int t = threadIdx.x, g = blockIdx.x * B + t;
  s[t + 1] = f[g];
  if (t == 0) s[0] = 7;
  __syncthreads();
  int x = s[t] + s[t + 1];
  __syncthreads();
  s[t + 1] = x;
  __syncthreads();
  o[g] = s[t] + s[t + 1];
}
__global__ void lift2(const int *f, int *o) {
  __shared__ int s[B + 2];
  int t = threadIdx.x, g = blockIdx.x * B + t;
  s[t + 2] = f[g];
  if (t < 2) s[t] = f[g] + 1;
  __syncthreads();
  int x = s[t] + s[t + 2];
  __syncthreads();
  s[t + 2] = x;
  __syncthreads();
  o[g] = s[t] + s[t + 1];
}
__global__ void sweep(const int *f, int *o) {
  __shared__ int s[B + 2];
  int t = threadIdx.x, g = blockIdx.x * B + t;
  s[t + 2] = f[g];
  if (t < 2) s[t] = 0;
  __syncthreads();
  for (int k = 1; k < 3; ++k) {
    int x = s[t + 2 - k] + s[t + 2];
    __syncthreads();
    s[t + 2] = x;
    __syncthreads();
  }
  o[g] = s[t + 2];
}
__global__ void evenOdd(const int *f, int *o) {
  __shared__ int s[2 * B + 2];
  int t = threadIdx.x, g = blockIdx.x * 2 * B + t;
  s[t] = f[g];
  s[t + B] = f[g + B];
  if (t < 2) s[t + 2 * B] = f[g + 2 * B - 2];
  __syncthreads();
  int h = s[2 * t + 1] - ((s[2 * t] + s[2 * t + 2]) >> 1);
  __syncthreads();
  s[2 * t + 1] = h;
  __syncthreads();
  if (t > 0) s[2 * t] += (s[2 * t - 1] + s[2 * t + 1] + 2) >> 2;
  __syncthreads();
  o[g] = s[t];
  o[g + B] = s[t + B];
}

// By data, and with the length of the array not known.
__global__ void sorted(const int *f, int *o) {
  __shared__ int s[B + 3];
  int t = threadIdx.x, g = blockIdx.x * B + t;
  s[t + 3] = f[g];
  if (t < 3) s[t] = 0;
  __syncthreads();
  if (t % 2 == 0 && s[t + 3] < s[t + 2]) { int x = s[t + 2]; s[t + 2] = s[t + 3]; s[t + 3] = x; }
  __syncthreads();
  o[g] = s[t + 2];
}
__global__ void dynamic(const int *f, int *o) {
  extern __shared__ int d[];
  int t = threadIdx.x, g = blockIdx.x * B + t;
  d[t + 1] = f[g];
  if (t == 0) d[0] = 7;
  __syncthreads();
  int x = d[t] + d[t + 1];
  __syncthreads();
  d[t + 1] = x;
  __syncthreads();
  o[g] = d[t] + d[t + 1];
}
__global__ void second(const int *f, int *o) {
  __shared__ int s[B + 2];
  int t = threadIdx.x, g = blockIdx.x * B + t;
  s[t + 2] = f[g];
  __syncthreads();
  if (t < 2) s[t] = s[t + 3];
  __syncthreads();
  o[g] = s[t] - s[t + 2];
}
int main() {
  const int n = 2048;
  Buffer<int> in(randoms<int>(n)), out(n);
  replicate<<<8, B>>>(in.Data, out.Data);
  out.show("replicate");
  replicate2<<<8, B>>>(in.Data, out.Data);
  out.show("replicate2");
  mirrorHalo<<<8, B>>>(in.Data, out.Data);
  out.show("mirrorHalo");
  wrapOne<<<8, B>>>(in.Data, out.Data);
  out.show("wrapOne");
  lift<<<8, B>>>(in.Data, out.Data);
  out.show("lift");
  lift2<<<8, B>>>(in.Data, out.Data);
  out.show("lift2");
  sweep<<<8, B>>>(in.Data, out.Data);
  out.show("sweep");
  evenOdd<<<8, B>>>(in.Data, out.Data);
  out.show("evenOdd");
  sorted<<<8, B>>>(in.Data, out.Data);
  out.show("sorted");
  second<<<8, B>>>(in.Data, out.Data);
  out.show("second");
  dynamic<<<8, B, (B + 1) * sizeof(int)>>>(in.Data, out.Data);
  out.show("dynamic");
}
