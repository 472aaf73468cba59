// Tiles that the source made one-dimensional: staged by a loop over all elements
// with quotient and remainder, by loops in both dimensions, by conditions; sizes
// constant, or from blockDim; a pointer to the centre; three dimensions.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS %s %}
//
// The windows are 2-D.
// CHECK-DAG: rewrote 'conv_linear<1, 16, 16>' {{.*}}'sm' reloaded
// CHECK-DAG: rewrote 'conv_linear<3, 32, 8>' {{.*}}'sm' reloaded
// CHECK-DAG: rewrote 'conv_linear_dyn<2>' {{.*}}'dyn' reloaded
// CHECK-DAG: rewrote 'box_hand' {{.*}}'t' reloaded
// CHECK-DAG: rewrote 'padded' {{.*}}'patch' reloaded
// CHECK-DAG: rewrote 'dyn_ifs' {{.*}}'sh' reloaded
// CHECK-DAG: rewrote 'full7_linear'
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
#include "program.h"

__constant__ float Weights[49];

// linear tid staging
template <int R, int TW, int TH>
__global__ void conv_linear(const float *__restrict__ src,
                            float *__restrict__ dst, int w, int h) {
  constexpr int SW = TW + 2 * R, SH = TH + 2 * R;
  __shared__ float sm[SH * SW];
  int tid = threadIdx.y * TW + threadIdx.x;
  int x0 = blockIdx.x * TW - R, y0 = blockIdx.y * TH - R;
  for (int i = tid; i < SW * SH; i += TW * TH) {
    int yy = i / SW, xx = i % SW;
    int gx = x0 + xx, gy = y0 + yy;
    sm[i] = (gx >= 0 && gx < w && gy >= 0 && gy < h) ? src[gy * w + gx] : 0.0f;
  }
  __syncthreads();
  int x = blockIdx.x * TW + threadIdx.x, y = blockIdx.y * TH + threadIdx.y;
  if (x < w && y < h) {
    float a = 0.0f;
    for (int j = 0; j < 2 * R + 1; ++j)
      for (int i = 0; i < 2 * R + 1; ++i)
        a += Weights[j * (2 * R + 1) + i] *
             sm[(threadIdx.y + j) * SW + threadIdx.x + i];
    dst[y * w + x] = a;
  }
}
template <int R>
__global__ void conv_linear_dyn(const float *src, float *dst, int w, int h) {
  extern __shared__ float dyn[];
  int tw = blockDim.x + 2 * R, th = blockDim.y + 2 * R;
  int tid = threadIdx.y * blockDim.x + threadIdx.x;
  int nt = blockDim.x * blockDim.y;
  for (int i = tid; i < tw * th; i += nt) {
    int ly = i / tw, lx = i - ly * tw;
    int gx = min(max((int)(blockIdx.x * blockDim.x) + lx - R, 0), w - 1);
    int gy = min(max((int)(blockIdx.y * blockDim.y) + ly - R, 0), h - 1);
    dyn[i] = src[gy * w + gx];
  }
  __syncthreads();
  int x = blockIdx.x * blockDim.x + threadIdx.x,
      y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  float a = 0.0f;
#pragma unroll
  for (int j = -R; j <= R; ++j)
#pragma unroll
    for (int i = -R; i <= R; ++i)
      a += Weights[(j + R) * (2 * R + 1) + i + R] *
           dyn[(threadIdx.y + R + j) * tw + threadIdx.x + R + i];
  dst[y * w + x] = a;
}
__global__ void full7_linear(const float *in, float *out, int nx, int ny,
                             int nz) {
  const int TX = 16, TY = 4, TZ = 4;
  __shared__ float s[(TZ + 2) * (TY + 2) * (TX + 2)];
  int tid = (threadIdx.z * TY + threadIdx.y) * TX + threadIdx.x;
  for (int n = tid; n < (TX + 2) * (TY + 2) * (TZ + 2); n += TX * TY * TZ) {
    int lx = n % (TX + 2), ly = (n / (TX + 2)) % (TY + 2),
        lz = n / ((TX + 2) * (TY + 2));
    int gx = blockIdx.x * TX + lx - 1, gy = blockIdx.y * TY + ly - 1,
        gz = blockIdx.z * TZ + lz - 1;
    s[n] = (gx >= 0 && gx < nx && gy >= 0 && gy < ny && gz >= 0 && gz < nz)
               ? in[(gz * ny + gy) * nx + gx]
               : 0.f;
  }
  __syncthreads();
  int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y,
      z = blockIdx.z * TZ + threadIdx.z;
  if (x < nx && y < ny && z < nz) {
    int c = ((threadIdx.z + 1) * (TY + 2) + threadIdx.y + 1) * (TX + 2) +
            threadIdx.x + 1;
    out[(z * ny + y) * nx + x] = s[c - 1] + s[c + 1] + s[c - (TX + 2)] +
                                 s[c + TX + 2] + s[c - (TX + 2) * (TY + 2)] +
                                 s[c + (TX + 2) * (TY + 2)] - 6.f * s[c];
  }
}

// hand-linearised tile, strided 2-D loops
__global__ void box_hand(const float *in, float *out, int w, int h) {
  __shared__ float t[(8 + 2) * (32 + 2)];
  const int tx = threadIdx.x, ty = threadIdx.y;
  for (int j = ty; j < 10; j += 8)
    for (int i = tx; i < 34; i += 32) {
      int gx = blockIdx.x * 32 + i - 1, gy = blockIdx.y * 8 + j - 1;
      t[j * 34 + i] =
          gx >= 0 && gx < w && gy >= 0 && gy < h ? in[gy * w + gx] : 0.f;
    }
  __syncthreads();
  const int x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
  if (x < w && y < h) {
    const float *c = &t[(ty + 1) * 34 + tx + 1];
    out[y * w + x] = c[0] * 4.f - c[-1] - c[1] - c[-34] - c[34];
  }
}
// dynamic, halo by ifs
__global__ void dyn_ifs(const float *in, float *out, int w, int h) {
  extern __shared__ float sh[];
  const int pitch = blockDim.x + 2;
  int x = blockIdx.x * blockDim.x + threadIdx.x,
      y = blockIdx.y * blockDim.y + threadIdx.y;
  int l = (threadIdx.y + 1) * pitch + threadIdx.x + 1;
  bool in_img = x < w && y < h;
  sh[l] = in_img ? in[y * w + x] : 0.f;
  if (threadIdx.x == 0)
    sh[l - 1] = in_img && x > 0 ? in[y * w + x - 1] : 0.f;
  if (threadIdx.x == blockDim.x - 1)
    sh[l + 1] = y < h && x + 1 < w ? in[y * w + x + 1] : 0.f;
  if (threadIdx.y == 0)
    sh[l - pitch] = in_img && y > 0 ? in[(y - 1) * w + x] : 0.f;
  if (threadIdx.y == blockDim.y - 1)
    sh[l + pitch] = x < w && y + 1 < h ? in[(y + 1) * w + x] : 0.f;
  __syncthreads();
  if (in_img)
    out[y * w + x] =
        0.25f * (sh[l - 1] + sh[l + 1] + sh[l - pitch] + sh[l + pitch]);
}
// unsigned arithmetic with a remainder; lines longer than what is staged
__global__ void padded(float *image, float *result, int rows, int cols) {
  __shared__ float patch[20 * 21];
  for (int k = threadIdx.y * 16 + threadIdx.x; k < 20 * 20; k += 256) {
    int r = k / 20, c = k % 20;
    int gr = blockIdx.y * 16 + r - 2, gc = blockIdx.x * 16 + c - 2;
    float v = 0.0f;
    if (gr >= 0 && gr < rows && gc >= 0 && gc < cols)
      v = image[gr * cols + gc];
    patch[r * 21 + c] = v;
  }
  __syncthreads();
  int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= rows || col >= cols)
    return;
  float a = 0.f;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j)
      a += Weights[i * 5 + j] * patch[(threadIdx.y + i) * 21 + threadIdx.x + j];
  result[row * cols + col] = a;
}

int main(int argc, char **) {
  std::vector<float> W = randoms<float>(49);
  cudaMemcpyToSymbol(Weights, W.data(), W.size() * sizeof(float));
  const int Sizes[][2] = {{97, 41}, {128, 64}, {33, 17}};
  for (auto &S : Sizes) {
    int w = S[0] * argc, h = S[1];
    Buffer<float> In(randoms<float>(w * h)), Out(w * h);
    dim3 b(32, 8), g(blocks(w, 32), blocks(h, 8));
    dim3 b16(16, 16), g16(blocks(w, 16), blocks(h, 16));
    conv_linear<1, 16, 16><<<g16, b16>>>(In.Data, Out.Data, w, h);
    Out.show("linear, radius 1", w, h);
    conv_linear<3, 32, 8><<<g, b>>>(In.Data, Out.Data, w, h);
    Out.show("linear, radius 3", w, h);
    conv_linear_dyn<2>
        <<<g16, b16, 20 * 20 * sizeof(float)>>>(In.Data, Out.Data, w, h);
    Out.show("linear, dynamic", w, h);
    padded<<<g16, b16>>>(In.Data, Out.Data, h, w);
    Out.show("padded", w, h);
    // A lambda that captures the block may still not change it.
    auto launch = [&] { box_hand<<<g, b>>>(In.Data, Out.Data, w, h); };
    launch();
    Out.show("by hand", w, h);
    dyn_ifs<<<g, b, 34 * 10 * sizeof(float)>>>(In.Data, Out.Data, w, h);
    Out.show("conditions, dynamic", w, h);
  }
  int nx = 37 * argc, ny = 11, nz = 9;
  Buffer<float> In(randoms<float>(nx * ny * nz)), Out(nx * ny * nz);
  full7_linear<<<dim3(blocks(nx, 16), blocks(ny, 4), blocks(nz, 4)),
                 dim3(16, 4, 4)>>>(In.Data, Out.Data, nx, ny, nz);
  Out.show("three dimensions");
}
