// more 2D image processing: canny, harris, convolution as in the textbook, half and short pixels
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <iostream>
#include <vector>
#define CUDA_CALL(x) do { if ((x) != cudaSuccess) { std::cerr << "Error at " << __FILE__ << ":" << __LINE__ << std::endl; exit(1); } } while (0)

#define MASK_WIDTH 5
#define O_TILE_WIDTH 12
#define I_TILE_WIDTH (O_TILE_WIDTH + MASK_WIDTH - 1)
// Harris corner response: gradients computed into shared, then a 3x3 window
#define HT 16
__global__ void harrisResponse(const float *img, float *resp, int w, int h, float kappa) {
  __shared__ float p[HT + 4][HT + 4];
  __shared__ float ix[HT + 2][HT + 2], iy[HT + 2][HT + 2];
  const int tid = threadIdx.x + threadIdx.y * HT;
  for (int t = tid; t < (HT + 4) * (HT + 4); t += HT * HT) {
    int yy = min(max((int)blockIdx.y * HT + t / (HT + 4) - 2, 0), h - 1);
    int xx = min(max((int)blockIdx.x * HT + t % (HT + 4) - 2, 0), w - 1);
    p[t / (HT + 4)][t % (HT + 4)] = img[yy * w + xx];
  }
  __syncthreads();
  for (int t = tid; t < (HT + 2) * (HT + 2); t += HT * HT) {
    int r = t / (HT + 2), c = t % (HT + 2);
    ix[r][c] = 0.5f * (p[r + 1][c + 2] - p[r + 1][c]);
    iy[r][c] = 0.5f * (p[r + 2][c + 1] - p[r][c + 1]);
  }
  __syncthreads();
  int x = blockIdx.x * HT + threadIdx.x, y = blockIdx.y * HT + threadIdx.y;
  if (x < w && y < h) {
    float a = 0, b = 0, c = 0;
    for (int j = 0; j < 3; j++)
      for (int i = 0; i < 3; i++) {
        float gx = ix[threadIdx.y + j][threadIdx.x + i], gy = iy[threadIdx.y + j][threadIdx.x + i];
        a += gx * gx;
        b += gx * gy;
        c += gy * gy;
      }
    resp[y * w + x] = a * c - b * b - kappa * (a + c) * (a + c);
  }
}

// depth map hole filling (16-bit): mean of valid neighbours in 5x5, 16x4 block
__global__ void fillDepth(const unsigned short *depth, unsigned short *filled, int cols, int rows) {
  __shared__ unsigned short d[4 + 4][16 + 4];
  for (int k = threadIdx.y * 16 + threadIdx.x; k < 8 * 20; k += 64) {
    int c = blockIdx.x * 16 + k % 20 - 2, r = blockIdx.y * 4 + k / 20 - 2;
    d[k / 20][k % 20] = (c < 0 || r < 0 || c >= cols || r >= rows) ? 0 : depth[r * cols + c];
  }
  __syncthreads();
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 4 + threadIdx.y;
  if (c < cols && r < rows) {
    unsigned v = d[threadIdx.y + 2][threadIdx.x + 2];
    if (v == 0) {
      unsigned s = 0, n = 0;
      for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5; i++) {
          unsigned q = d[threadIdx.y + j][threadIdx.x + i];
          if (q) { s += q; n++; }
        }
      v = n ? s / n : 0;
    }
    filled[r * cols + c] = (unsigned short)v;
  }
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
  auto by = [](size_t i) { return (unsigned char)((i * 31 + i / 77) % 251); };
  unsigned char *dir = gen<unsigned char>((size_t)w * h, by), *edge = gen<unsigned char>((size_t)w * h, by);
  harrisResponse<<<dim3((w + HT - 1) / HT, (h + HT - 1) / HT), dim3(HT, HT)>>>(img, o, w, h, 0.04f);
  auto hf = [](size_t i) { return __float2half((float)(i % 63) / 32.f); };
  __half *hi = gen<__half>((size_t)w * h, hf), *ho = gen<__half>((size_t)w * h, hf), *hw = gen<__half>(9, hf);
  auto us = [](size_t i) { return (unsigned short)((i * 7919) % 5 == 0 ? 0 : 500 + i % 3000); };
  unsigned short *dep = gen<unsigned short>(640 * 480, us), *fil = gen<unsigned short>(640 * 480, us);
  fillDepth<<<dim3(40, 120), dim3(16, 4)>>>(dep, fil, 640, 480);
  CUDA_CALL(cudaGetLastError());
  CUDA_CALL(cudaDeviceSynchronize());
}
