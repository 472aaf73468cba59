// Functions that are followed into their bodies: a bounds-checked load with
// early returns, one in a namespace with a border rule of its own, one with
// arithmetic on what it loads. And a template of which one instantiation is
// rewritten and the other is not: its launches keep the original.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
//
// CHECK-DAG: rewrote 'bordered'
// CHECK-DAG: rewrote 'reflected'
// CHECK-DAG: rewrote 'gained'
// CHECK-DAG: rewrote 'smooth<2>'
// CHECK-DAG: 'smooth<300>' left as it is
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
#include "program.h"

#define BX 32
#define BY 8
__constant__ float Weights[9];

__device__ __forceinline__ float fetch(const float *p, int x, int y, int w,
                                       int h) {
  if (x < 0 || x >= w || y < 0 || y >= h)
    return 0.0f;
  return p[y * w + x];
}

template <typename T> __device__ T clampTo(T v, T lo, T hi) {
  return v < lo ? lo : (v > hi ? hi : v);
}

namespace image {
constexpr float Scale = 0.5f;
__constant__ float Gain = 2.0f;
__device__ int reflect(int i, int n) {
  if (i < 0)
    i = -i;
  if (i >= n)
    i = 2 * n - 2 - i;
  return i;
}
template <typename T>
__device__ inline T at(const T *img, int w, int h, int x, int y) {
  x = reflect(x, w);
  y = reflect(y, h);
  return img[y * w + x];
}
template <typename T> __device__ T scaled(const T *p, const int &i, int n) {
  const T k = T(Scale);
  T v = 0;
  if (i < n)
    v = p[i] * k + Gain;
  else {
    v = T(1.5) * k;
  }
  return v;
}
} // namespace image

__global__ void bordered(const float *in, float *out, int w, int h) {
  __shared__ float tile[BY + 2][BX + 2];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * BX + tx, y = blockIdx.y * BY + ty;
  tile[ty + 1][tx + 1] = fetch(in, x, y, w, h);
  if (tx == 0)
    tile[ty + 1][0] = fetch(in, x - 1, y, w, h);
  if (tx == BX - 1)
    tile[ty + 1][BX + 1] = fetch(in, x + 1, y, w, h);
  if (ty == 0) {
    tile[0][tx + 1] = fetch(in, x, y - 1, w, h);
    if (tx == 0)
      tile[0][0] = fetch(in, x - 1, y - 1, w, h);
    if (tx == BX - 1)
      tile[0][BX + 1] = fetch(in, x + 1, y - 1, w, h);
  }
  if (ty == BY - 1) {
    tile[BY + 1][tx + 1] = fetch(in, x, y + 1, w, h);
    if (tx == 0)
      tile[BY + 1][0] = fetch(in, x - 1, y + 1, w, h);
    if (tx == BX - 1)
      tile[BY + 1][BX + 1] = fetch(in, x + 1, y + 1, w, h);
  }
  __syncthreads();
  if (x >= w || y >= h)
    return;
  float acc = 0;
#pragma unroll
  for (int j = 0; j < 3; ++j)
#pragma unroll
    for (int i = 0; i < 3; ++i)
      acc += Weights[j * 3 + i] * tile[ty + j][tx + i];
  out[y * w + x] = acc;
}

__global__ void reflected(const float *in, float *out, int w, int h) {
  __shared__ float s[18][18];
  for (int j = threadIdx.y; j < 18; j += 16)
    for (int i = threadIdx.x; i < 18; i += 16)
      s[j][i] = image::at(in, w, h, (int)blockIdx.x * 16 + i - 1,
                          (int)blockIdx.y * 16 + j - 1);
  __syncthreads();
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < w && y < h) {
    float a = 0;
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i)
        a += s[threadIdx.y + j][threadIdx.x + i];
    out[y * w + x] = a;
  }
}

__global__ void gained(const float *in, float *out, int n) {
  __shared__ float s[128 + 4];
  for (int i = threadIdx.x; i < 132; i += 128)
    s[i] = image::scaled<float>(
        in, clampTo(int(blockIdx.x * 128 + i) - 2, 0, n - 1), n - 5);
  __syncthreads();
  int g = blockIdx.x * 128 + threadIdx.x;
  if (g < n) {
    float a = 0;
    for (int k = 0; k < 5; ++k)
      a += s[threadIdx.x + k];
    out[g] = a;
  }
}

template <int R> __global__ void smooth(const float *in, float *out, int n) {
  __shared__ float s[128 + 2 * R];
  int g = blockIdx.x * 128 + threadIdx.x;
  for (int i = threadIdx.x; i < 128 + 2 * R; i += 128) {
    int a = blockIdx.x * 128 + i - R;
    s[i] = a >= 0 && a < n ? in[a] : 0.0f;
  }
  __syncthreads();
  if (g < n) {
    float sum = 0;
    for (int k = 0; k <= 2 * R; ++k)
      sum += s[threadIdx.x + k];
    out[g] = sum;
  }
}

int main() {
  std::vector<float> W = randoms<float>(9);
  cudaMemcpyToSymbol(Weights, W.data(), W.size() * sizeof(float));
  const int Sizes[][2] = {{97, 41}, {128, 64}, {33, 18}};
  for (auto &S : Sizes) {
    int w = S[0], h = S[1], n = w * h;
    Buffer<float> In(randoms<float>(n)), Out(n);
    bordered<<<dim3(blocks(w, BX), blocks(h, BY)), dim3(BX, BY)>>>(
        In.Data, Out.Data, w, h);
    Out.show("bordered", w, h);
    if (w % 16 == 0)
      reflected<<<dim3(w / 16, h / 16), dim3(16, 16)>>>(In.Data, Out.Data, w, h);
    Out.show("reflected", w, h);
    gained<<<blocks(n, 128), 128>>>(In.Data, Out.Data, n);
    Out.show("gained", w, h);
    smooth<2><<<blocks(n, 128), 128>>>(In.Data, Out.Data, n);
    Out.show("smooth", w, h);
    smooth<300><<<blocks(n, 128), 128>>>(In.Data, Out.Data, n);
    Out.show("smooth, wide", w, h);
  }
}
