// Shared arrays that functions take by reference.
//
// RUN: rcache-rewrite %s --force -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s --implicit-check-not='left as it is'
// RUN: %if slow %{ %nvcc -std=c++17 -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
//
// REQUIRES: cuda-toolkit
#include "program.h"

__device__ float tap(const float (&s)[130], int t, float w) { return s[t] * w + s[t + 2]; }

// CHECK-DAG: rewrote 'line'
__global__ void line(const float *in, float *out, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int i = t; i < 130; i += 128)
    s[i] = in[blockIdx.x * 128 + i];
  __syncthreads();
  if (g < n)
    out[g] = tap(s, t, .3f);
}

template <int N> __device__ float sum(const float (&values)[N], int at) {
  float v = values[at];
  v += values[at + 1];
  return v;
}
// CHECK-DAG: rewrote 'sized'
__global__ void sized(const float *in, float *out, int n) {
  __shared__ float s[129];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int i = t; i < 129; i += 128)
    s[i] = in[blockIdx.x * 128 + i];
  __syncthreads();
  const float both = sum(s, t);
  if (g < n)
    out[g] = both;
}

__device__ float around(float (&tile)[10][34], int y, int x) {
  return tile[y - 1][x] + tile[y + 1][x] + tile[y][x - 1] + tile[y][x + 1];
}
// CHECK-DAG: rewrote 'plane'
__global__ void plane(const float *in, float *out, int w, int h) {
  __shared__ float s[10][34];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
  for (int j = ty; j < 10; j += 8)
    for (int i = tx; i < 34; i += 32) {
      const int gx = blockIdx.x * 32 + i - 1, gy = blockIdx.y * 8 + j - 1;
      s[j][i] = gx >= 0 && gy >= 0 && gx < w && gy < h ? in[gy * w + gx] : 0.f;
    }
  __syncthreads();
  if (x < w && y < h)
    out[y * w + x] = around(s, ty + 1, tx + 1);
}

int main() {
  const int n = 1000, w = 61, h = 43;
  const Buffer<float> in(randoms<float>(w * h));
  Buffer<float> a(n), b(n), c(w * h);
  line<<<8, 128>>>(in.Data, a.Data, n);
  a.show("line", n);
  sized<<<8, 128>>>(in.Data, b.Data, n);
  b.show("sized", n);
  plane<<<dim3(2, 6), dim3(32, 8)>>>(in.Data, c.Data, w, h);
  c.show("plane", w, h);
}
