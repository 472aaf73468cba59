// Borders with many cases: reflected twice in both dimensions, clamped in three,
// a zero of a vector type chosen by a condition.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// (Much unrolled text: clang is quicker with it.)
// RUN: rcache-check diff --device-code=clang %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
//
// CHECK-DAG: rewrote 'conv_mirror<4>' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'full27'
// CHECK-DAG: rewrote 'lap_float4' {{.*}}'s' reloaded
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
#include "program.h"

__constant__ float Weights[81];

template <int R>
__global__ void conv_mirror(const float *src, float *dst, int w, int h) {
  __shared__ float s[16 + 2 * R][16 + 2 * R + 1];
  for (int j = threadIdx.y; j < 16 + 2 * R; j += 16)
    for (int i = threadIdx.x; i < 16 + 2 * R; i += 16) {
      int gx = (int)blockIdx.x * 16 + i - R, gy = (int)blockIdx.y * 16 + j - R;
      if (gx < 0) gx = -gx;
      if (gx >= w) gx = 2 * w - 2 - gx;
      if (gy < 0) gy = -gy;
      if (gy >= h) gy = 2 * h - 2 - gy;
      if (gx < 0) gx = 0;
      if (gy < 0) gy = 0;
      s[j][i] = src[gy * w + gx];
    }
  __syncthreads();
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < w && y < h) {
    float a = 0.0f;
    for (int j = 0; j <= 2 * R; ++j)
      for (int i = 0; i <= 2 * R; ++i) a += Weights[j * (2 * R + 1) + i] * s[threadIdx.y + j][threadIdx.x + i];
    dst[y * w + x] = a;
  }
}

__global__ void full27(const float *in, float *out, int nx, int ny, int nz) {
  __shared__ float s[4 + 2][4 + 2][32 + 2];
  for (int k = threadIdx.z; k < 6; k += 4)
    for (int j = threadIdx.y; j < 6; j += 4)
      for (int i = threadIdx.x; i < 34; i += 32) {
        int gx = min(max((int)blockIdx.x * 32 + i - 1, 0), nx - 1);
        int gy = min(max((int)blockIdx.y * 4 + j - 1, 0), ny - 1);
        int gz = min(max((int)blockIdx.z * 4 + k - 1, 0), nz - 1);
        s[k][j][i] = in[(gz * ny + gy) * nx + gx];
      }
  __syncthreads();
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, z = blockIdx.z * 4 + threadIdx.z;
  if (x < nx && y < ny && z < nz) {
    float a = 0;
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) a += s[threadIdx.z + k][threadIdx.y + j][threadIdx.x + i];
    out[(z * ny + y) * nx + x] = a / 27.f;
  }
}

__global__ void lap_float4(const float4 *src, float *dst, int w, int h) {
  __shared__ float4 s[10][18];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float4 z = make_float4(0, 0, 0, 0);
  s[ty][tx] = x < w && y < h ? src[y * w + x] : z;
  if (threadIdx.x == 0) s[ty][0] = x > 0 && y < h ? src[y * w + x - 1] : z;
  if (threadIdx.x == 15) s[ty][17] = x + 1 < w && y < h ? src[y * w + x + 1] : z;
  if (threadIdx.y == 0) s[0][tx] = y > 0 && x < w ? src[(y - 1) * w + x] : z;
  if (threadIdx.y == 7) s[9][tx] = y + 1 < h && x < w ? src[(y + 1) * w + x] : z;
  __syncthreads();
  if (x < w && y < h)
    dst[y * w + x] = s[ty][tx - 1].x + s[ty][tx + 1].y + s[ty - 1][tx].z + s[ty + 1][tx].w - 4.0f * s[ty][tx].x;
}

int main() {
  std::vector<float> W = randoms<float>(81);
  cudaMemcpyToSymbol(Weights, W.data(), W.size() * sizeof(float));
  const int Sizes[][2] = {{97, 41}, {128, 64}, {33, 17}};
  for (auto &S : Sizes) {
    int w = S[0], h = S[1];
    Buffer<float> In(randoms<float>(w * h)), Out(w * h);
    Buffer<float4> Pixels(w * h);
    std::vector<float> P = randoms<float>(4 * w * h);
    cudaMemcpy(Pixels.Data, P.data(), P.size() * sizeof(float),
               cudaMemcpyHostToDevice);
    conv_mirror<4><<<dim3(blocks(w, 16), blocks(h, 16)), dim3(16, 16)>>>(
        In.Data, Out.Data, w, h);
    Out.show("mirror", w, h);
    lap_float4<<<dim3(blocks(w, 16), blocks(h, 8)), dim3(16, 8)>>>(
        Pixels.Data, Out.Data, w, h);
    Out.show("float4", w, h);
  }
  const int nx = 70, ny = 21, nz = 9;
  Buffer<float> In(randoms<float>(nx * ny * nz)), Out(nx * ny * nz);
  full27<<<dim3(blocks(nx, 32), blocks(ny, 4), blocks(nz, 4)),
           dim3(32, 4, 4)>>>(In.Data, Out.Data, nx, ny, nz);
  Out.show("27 points");
}
