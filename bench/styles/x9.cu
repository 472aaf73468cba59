// sorting networks and transforms inside a block
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <utility>
#define CUDA_TRY(expr) do { cudaError_t st = (expr); if (st != cudaSuccess) { fprintf(stderr, "[%s:%d] %s\n", __FILE__, __LINE__, cudaGetErrorString(st)); abort(); } } while (0)

#define SHARED_SIZE_LIMIT 1024U
typedef unsigned int uint;
__device__ inline void Comparator(uint &keyA, uint &valA, uint &keyB, uint &valB, uint dir) {
  uint t;
  if ((keyA > keyB) == dir) {
    t = keyA; keyA = keyB; keyB = t;
    t = valA; valA = valB; valB = t;
  }
}
// odd-even transposition sort of 256 floats by 128 threads
__global__ void oddEvenSort(float *data) {
  __shared__ float a[256];
  const int t = threadIdx.x;
  float *p = data + blockIdx.x * 256;
  a[t] = p[t];
  a[t + 128] = p[t + 128];
  __syncthreads();
  for (int phase = 0; phase < 256; phase++) {
    int i = 2 * t + (phase & 1);
    if (i + 1 < 256 && a[i] > a[i + 1]) {
      float tmp = a[i];
      a[i] = a[i + 1];
      a[i + 1] = tmp;
    }
    __syncthreads();
  }
  p[t] = a[t];
  p[t + 128] = a[t + 128];
}

#define FFT_N 512
#define FFT_LOG 9
// 8x8 DCT, cos table in constant memory, 2 blocks of pixels per thread block
__constant__ float DCTv8matrix[64];
__global__ void dct8x8(const float *src, float *dst, int stride) {
  __shared__ float blk[2][8][8];
  __shared__ float tmp[2][8][8];
  int z = threadIdx.z, y = threadIdx.y, x = threadIdx.x;
  int gx = (blockIdx.x * 2 + z) * 8 + x, gy = blockIdx.y * 8 + y;
  blk[z][y][x] = src[gy * stride + gx] - 128.f;
  __syncthreads();
  float c = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) c += DCTv8matrix[y * 8 + i] * blk[z][i][x];
  tmp[z][y][x] = c;
  __syncthreads();
  c = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) c += tmp[z][y][i] * DCTv8matrix[x * 8 + i];
  dst[gy * stride + gx] = c;
}

template <class T> T *mkdev(size_t n) {
  T *h = (T *)malloc(n * sizeof(T));
  uint s = 7;
  for (size_t i = 0; i < n; i++) { s = s * 69069u + 1; h[i] = (T)(s >> 12); }
  T *d;
  CUDA_TRY(cudaMalloc(&d, n * sizeof(T)));
  CUDA_TRY(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main() {
  const uint N = 1 << 22;
  uint *k = mkdev<uint>(N), *v = mkdev<uint>(N), *ok = mkdev<uint>(N), *ov = mkdev<uint>(N);
  float *f = mkdev<float>(N);
  oddEvenSort<<<4000, 128>>>(f);
  float *c = mkdev<float>(N * 2);
  float m[64];
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) m[i * 8 + j] = (i ? 0.5f : 0.353553f) * cosf((2 * j + 1) * i * 3.14159265f / 16);
  CUDA_TRY(cudaMemcpyToSymbol(DCTv8matrix, m, sizeof m));
  dct8x8<<<dim3(2048 / 16, 1024 / 8), dim3(8, 8, 2)>>>(f, c, 2048);
  CUDA_TRY(cudaGetLastError());
  CUDA_TRY(cudaDeviceSynchronize());
  return 0;
}
