// more 2D image processing: canny, harris, convolution as in the textbook, half and short pixels
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <iostream>
#include <vector>
#define CUDA_CALL(x) do { if ((x) != cudaSuccess) { std::cerr << "Error at " << __FILE__ << ":" << __LINE__ << std::endl; exit(1); } } while (0)

// textbook tiled convolution: block is as large as the INPUT tile
#define MASK_WIDTH 5
#define O_TILE_WIDTH 12
#define I_TILE_WIDTH (O_TILE_WIDTH + MASK_WIDTH - 1)
__global__ void convolution_2D_intile(float *P, const float *N, int height, int width, const float *__restrict__ Mk) {
  __shared__ float N_ds[I_TILE_WIDTH][I_TILE_WIDTH];
  int tx = threadIdx.x;
  int ty = threadIdx.y;
  int row_o = blockIdx.y * O_TILE_WIDTH + ty;
  int col_o = blockIdx.x * O_TILE_WIDTH + tx;
  int row_i = row_o - MASK_WIDTH / 2;
  int col_i = col_o - MASK_WIDTH / 2;
  if ((row_i >= 0) && (row_i < height) && (col_i >= 0) && (col_i < width))
    N_ds[ty][tx] = N[row_i * width + col_i];
  else
    N_ds[ty][tx] = 0.0f;
  __syncthreads();
  float output = 0.0f;
  if (ty < O_TILE_WIDTH && tx < O_TILE_WIDTH) {
    for (int i = 0; i < MASK_WIDTH; i++)
      for (int j = 0; j < MASK_WIDTH; j++) output += Mk[i * MASK_WIDTH + j] * N_ds[i + ty][j + tx];
    if (row_o < height && col_o < width) P[row_o * width + col_o] = output;
  }
}

// canny: non-maximum suppression with gradient tile (32x16)
__global__ void canny_nms(const float *mag, const unsigned char *dir, unsigned char *edge, int w, int h, float lo, float hi) {
  __shared__ float m[18][34];
  int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  int gx = blockIdx.x * 32 + threadIdx.x, gy = blockIdx.y * 16 + threadIdx.y;
#define MAG(X, Y) (((X) < 0 || (Y) < 0 || (X) >= w || (Y) >= h) ? 0.f : mag[(Y) * w + (X)])
  m[ly][lx] = MAG(gx, gy);
  if (threadIdx.x == 0) m[ly][0] = MAG(gx - 1, gy);
  if (threadIdx.x == 31) m[ly][33] = MAG(gx + 1, gy);
  if (threadIdx.y == 0) m[0][lx] = MAG(gx, gy - 1);
  if (threadIdx.y == 15) m[17][lx] = MAG(gx, gy + 1);
  if (threadIdx.x == 0 && threadIdx.y == 0) m[0][0] = MAG(gx - 1, gy - 1);
  if (threadIdx.x == 31 && threadIdx.y == 0) m[0][33] = MAG(gx + 1, gy - 1);
  if (threadIdx.x == 0 && threadIdx.y == 15) m[17][0] = MAG(gx - 1, gy + 1);
  if (threadIdx.x == 31 && threadIdx.y == 15) m[17][33] = MAG(gx + 1, gy + 1);
  __syncthreads();
  if (gx >= w || gy >= h) return;
  float a, b, c = m[ly][lx];
  switch (dir[gy * w + gx] & 3) {
    case 0: a = m[ly][lx - 1]; b = m[ly][lx + 1]; break;
    case 1: a = m[ly - 1][lx + 1]; b = m[ly + 1][lx - 1]; break;
    case 2: a = m[ly - 1][lx]; b = m[ly + 1][lx]; break;
    default: a = m[ly - 1][lx - 1]; b = m[ly + 1][lx + 1];
  }
  unsigned char e = 0;
  if (c >= a && c >= b) e = c > hi ? 255 : (c > lo ? 128 : 0);
  edge[gy * w + gx] = e;
}

#define HT 16
// 3x3 convolution on half precision image
__global__ void conv3x3_half(const __half *in, __half *out, const __half *wgt, int w, int h) {
  __shared__ __half t[10][34];
  for (int j = threadIdx.y; j < 10; j += 8)
    for (int i = threadIdx.x; i < 34; i += 32) {
      int gx = blockIdx.x * 32 + i - 1, gy = blockIdx.y * 8 + j - 1;
      bool ok = gx >= 0 && gx < w && gy >= 0 && gy < h;
      t[j][i] = ok ? in[gy * w + gx] : __float2half(0.f);
    }
  __syncthreads();
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= w || y >= h) return;
  float s = 0.f;
#pragma unroll
  for (int j = 0; j < 3; j++)
#pragma unroll
    for (int i = 0; i < 3; i++) s += __half2float(t[threadIdx.y + j][threadIdx.x + i]) * __half2float(wgt[j * 3 + i]);
  out[y * w + x] = __float2half(s);
}

template <class T, class F> T *gen(size_t n, F f) {
  std::vector<T> h(n);
  for (size_t i = 0; i < n; i++) h[i] = f(i);
  T *d;
  CUDA_CALL(cudaMalloc(&d, n * sizeof(T)));
  CUDA_CALL(cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  return d;
}
int main() {
  int w = 2048, h = 1536;
  auto fl = [](size_t i) { return (float)((i * 193) % 257) * 0.25f; };
  float *img = gen<float>((size_t)w * h, fl), *o = gen<float>((size_t)w * h, fl), *mask = gen<float>(25, fl);
  convolution_2D_intile<<<dim3((w - 1) / O_TILE_WIDTH + 1, (h - 1) / O_TILE_WIDTH + 1), dim3(I_TILE_WIDTH, I_TILE_WIDTH)>>>(o, img, h, w, mask);
  auto by = [](size_t i) { return (unsigned char)((i * 31 + i / 77) % 251); };
  unsigned char *dir = gen<unsigned char>((size_t)w * h, by), *edge = gen<unsigned char>((size_t)w * h, by);
  canny_nms<<<dim3((1999 + 31) / 32, (1333 + 15) / 16), dim3(32, 16)>>>(img, dir, edge, 1999, 1333, 20.f, 45.f);
  auto hf = [](size_t i) { return __float2half((float)(i % 63) / 32.f); };
  __half *hi = gen<__half>((size_t)w * h, hf), *ho = gen<__half>((size_t)w * h, hf), *hw = gen<__half>(9, hf);
  conv3x3_half<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(hi, ho, hw, w, h);
  auto us = [](size_t i) { return (unsigned short)((i * 7919) % 5 == 0 ? 0 : 500 + i % 3000); };
  unsigned short *dep = gen<unsigned short>(640 * 480, us), *fil = gen<unsigned short>(640 * 480, us);
  CUDA_CALL(cudaGetLastError());
  CUDA_CALL(cudaDeviceSynchronize());
}
