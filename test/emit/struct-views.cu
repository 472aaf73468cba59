// Structs of a size and a pointer, handed to small functions that read, set and make
// them: what these load is seen through the calls, so that blocks are joined; what a
// function or the kernel changes of its own copy is no other struct's.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: %if slow %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -ptx %t.cu -o %t.ptx 2>&1 | FileCheck --check-prefix=NVCC --allow-empty %s %}
//
// CHECK-DAG: rewrote 'product' {{.*}}'a' kept shared, staged once for several blocks
// CHECK-DAG: rewrote 'handMade'
// CHECK-DAG: rewrote 'swapped'
// CHECK-DAG: rewrote 'chosen'
// NVCC-NOT: warning
#include "program.h"

#define EDGE 16

struct View {
  int wide;
  unsigned short tag;
  float *at;
};
__device__ float element(const View v, int y, int x) { return v.at[y * v.wide + x]; }
__device__ void setElement(View v, int y, int x, float value) {
  v.at[y * v.wide + x] = value;
}
__device__ View part(View v, int y, int x) {
  View of;
  of.wide = v.wide;
  of.tag = 7;
  of.at = &v.at[v.wide * EDGE * y + EDGE * x];
  return of;
}
/// Changes the copy that it was given.
__device__ float below(View v, int y, int x) {
  v.at += v.wide;
  return v.at[y * v.wide + x];
}

__global__ void product(View x, View y, View z) {
  const int by = blockIdx.y, bx = blockIdx.x, ty = threadIdx.y, tx = threadIdx.x;
  View out = part(z, by, bx);
  float sum = 0;
  for (int k = 0; k < x.wide / EDGE; ++k) {
    View xs = part(x, by, k);
    View ys = part(y, k, bx);
    __shared__ float a[EDGE][EDGE];
    __shared__ float b[EDGE][EDGE];
    a[ty][tx] = element(xs, ty, tx);
    b[ty][tx] = element(ys, ty, tx);
    __syncthreads();
    for (int e = 0; e < EDGE; ++e)
      sum += a[ty][e] * b[e][tx];
    __syncthreads();
  }
  setElement(out, ty, tx, sum);
}

__global__ void handMade(View x, View y, View z) {
  __shared__ float a[EDGE][EDGE], b[EDGE][EDGE];
  const int ty = threadIdx.y, tx = threadIdx.x;
  View xs, ys;
  float sum = 0;
  for (int k = 0; k < x.wide / EDGE; ++k) {
    xs.at = x.at + (blockIdx.y * EDGE) * x.wide + k * EDGE;
    xs.wide = x.wide;
    ys = y;
    ys.at = &y.at[k * EDGE * y.wide + blockIdx.x * EDGE];
    a[ty][tx] = xs.at[ty * xs.wide + tx];
    b[ty][tx] = ys.at[ty * y.wide + tx];
    __syncthreads();
    for (int e = 0; e < EDGE; ++e)
      sum += a[ty][e] * b[e][tx];
    __syncthreads();
  }
  View to = z;
  to.at += (blockIdx.y * EDGE + ty) * z.wide;
  to.at[blockIdx.x * EDGE + tx] = sum;
}

__global__ void copies(View x, View z, int n) {
  __shared__ float s[128 + 2];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  View v = x, w = v;
  w.at = x.at + 1;          // v keeps its own
  View u = g % 2 ? v : w;   // one of two
  s[t] = v.at[g] + below(v, 0, g);
  if (t < 2)
    s[t + 128] = v.at[g + 128] + below(v, 0, g + 128);
  __syncthreads();
  if (g < n)
    z.at[g] = s[t] - s[t + 2] + v.at[g] + u.at[g] - w.at[g];
}

__global__ void swapped(View x, View y, View z, int n) {
  __shared__ float s[128 + 1];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  View one = x, other = y;
  float sum = 0;
  for (int k = 0; k < 3; ++k) {
    s[t] = one.at[g];
    if (t == 0)
      s[128] = one.at[g + 128];
    __syncthreads();
    sum += s[t + 1] - s[t] + s[t + 1];
    __syncthreads();
    View keep = one;
    one = other;
    other = keep;
  }
  if (g < n)
    z.at[g] = sum;
}

__global__ void chosen(View x, View y, View z, int n, int which) {
  __shared__ float s[128 + 1];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  View from = x;
  if (which)
    from.at = y.at;
  s[t] = element(from, 0, g);
  if (t == 0)
    s[128] = element(from, 0, g + 128);
  __syncthreads();
  if (g < n)
    setElement(z, 0, g, s[t] - s[t + 1]);
}

int main() {
  const int n = 128;
  Buffer<float> A(randoms<float>(n * n)), B(randoms<float>(n * n)), C(n * n);
  const dim3 block(EDGE, EDGE);
  for (int wide : {128, 48}) {
    const View x{wide, 1, A.Data}, y{wide, 2, B.Data}, z{wide, 3, C.Data};
    const dim3 grid(wide / EDGE, wide / EDGE);
    product<<<grid, block>>>(x, y, z);
    C.show("product", wide, wide);
    handMade<<<grid, block>>>(x, y, z);
    C.show("handMade", wide, wide);
  }
  const View x{128, 1, A.Data}, y{128, 2, B.Data}, z{128, 3, C.Data};
  for (int m : {8192, 5000}) {
    copies<<<blocks(m, 128), 128>>>(x, z, m);
    C.show("copies", m);
    swapped<<<blocks(m, 128), 128>>>(x, y, z, m);
    C.show("swapped", m);
    for (int which : {0, 1}) {
      chosen<<<blocks(m, 128), 128>>>(x, y, z, m, which);
      C.show("chosen", m);
    }
  }
  return cudaDeviceSynchronize();
}
