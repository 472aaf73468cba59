// transposes and permutations II
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define CHECK_CUDA(x) do { cudaError_t e = (x); if (e != cudaSuccess) { fprintf(stderr, "CUDA %s\n", cudaGetErrorString(e)); exit(2); } } while (0)
// 1. image rotate 90 with transposed tile
__global__ void rotate90(const unsigned char *src, unsigned char *dst, int w, int h) {
  __shared__ unsigned char t[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8) {
    int y = blockIdx.y * 32 + j;
    if (x < w && y < h) t[j][threadIdx.x] = src[y * w + x];
  }
  __syncthreads();
  int oy = blockIdx.x * 32;
  int ox = h - 1 - (blockIdx.y * 32 + (int)threadIdx.x);
  for (int j = threadIdx.y; j < 32; j += 8)
    if (oy + j < w && ox >= 0) dst[(oy + j) * h + ox] = t[threadIdx.x][j];
}
// 2. NHWC to NCHW batched transpose
template <typename T>
__global__ void nhwc2nchw(const T *in, T *out, int C, int HW) {
  __shared__ T tile[32][32 + 1];
  const T *ip = in + (size_t)blockIdx.z * C * HW;
  T *op = out + (size_t)blockIdx.z * C * HW;
  int c = blockIdx.x * 32 + threadIdx.x, p = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int i = 0; i < 32; i += 8)
    if (c < C && p + i < HW) tile[threadIdx.y + i][threadIdx.x] = in[(size_t)blockIdx.z * C * HW + (p + i) * C + c];
  __syncthreads();
  p = blockIdx.y * 32 + threadIdx.x;
  c = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int i = 0; i < 32; i += 8)
    if (p < HW && c + i < C) op[(c + i) * HW + p] = tile[threadIdx.x][threadIdx.y + i];
}
// 3. bit reversal within 256 blocks
__global__ void bitrev256(const float2 *in, float2 *out) {
  __shared__ float2 s[256];
  s[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = s[__brev(threadIdx.x) >> 24];
}
// 4. matrix copy through shared (transpose post)
__global__ void copySharedMem(float *odata, const float *idata) {
  __shared__ float tile[32 * 32];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  int width = gridDim.x * 32;
  for (int j = 0; j < 32; j += 8) tile[(threadIdx.y + j) * 32 + threadIdx.x] = idata[(y + j) * width + x];
  __syncthreads();
  for (int j = 0; j < 32; j += 8) odata[(y + j) * width + x] = tile[(threadIdx.y + j) * 32 + threadIdx.x];
}
// 5. diagonal transpose from the old sample
#define TD 16
__global__ void transposeDiagonal(float *odata, float *idata, int width, int height) {
  __shared__ float tile[TD][TD + 1];
  int blockIdx_x, blockIdx_y;
  if (width == height) {
    blockIdx_y = blockIdx.x;
    blockIdx_x = (blockIdx.x + blockIdx.y) % gridDim.x;
  } else {
    int bid = blockIdx.x + gridDim.x * blockIdx.y;
    blockIdx_y = bid % gridDim.y;
    blockIdx_x = ((bid / gridDim.y) + blockIdx_y) % gridDim.x;
  }
  int xIndex = blockIdx_x * TD + threadIdx.x;
  int yIndex = blockIdx_y * TD + threadIdx.y;
  int index_in = xIndex + yIndex * width;
  xIndex = blockIdx_y * TD + threadIdx.x;
  yIndex = blockIdx_x * TD + threadIdx.y;
  int index_out = xIndex + yIndex * height;
  tile[threadIdx.y][threadIdx.x] = idata[index_in];
  __syncthreads();
  odata[index_out] = tile[threadIdx.x][threadIdx.y];
}
// 6. 3-D permute xyz -> zyx
__global__ void permuteZYX(const double *in, double *out, int nx, int ny, int nz) {
  __shared__ double t[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, z = blockIdx.z * 16 + threadIdx.y, y = blockIdx.y;
  if (x < nx && z < nz) t[threadIdx.y][threadIdx.x] = in[((size_t)z * ny + y) * nx + x];
  __syncthreads();
  x = blockIdx.x * 16 + threadIdx.y;
  z = blockIdx.z * 16 + threadIdx.x;
  if (x < nx && z < nz) out[((size_t)x * ny + y) * nz + z] = t[threadIdx.x][threadIdx.y];
}
template <class T> T *mk(size_t n) {
  char *h = (char *)malloc(n * sizeof(T));
  T *d;
  for (size_t i = 0; i < n * sizeof(T); ++i) h[i] = (i * 7919u) % 61;
  CHECK_CUDA(cudaMalloc(&d, n * sizeof(T)));
  CHECK_CUDA(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main(int argc, char **argv) {
  int w = argc > 1 ? atoi(argv[1]) : 4096, h = w;
  unsigned char *a = mk<unsigned char>(w * h), *b = mk<unsigned char>(w * h);
  float *fa = mk<float>(w * h), *fb = mk<float>(w * h);
  double *da = mk<double>(w * h), *db = mk<double>(w * h);
  rotate90<<<dim3((w + 31) / 32, (h + 31) / 32), dim3(32, 8)>>>(a, b, w, h);
  nhwc2nchw<float><<<dim3(2, (w * h / 64 / 2 + 31) / 32, 2), dim3(32, 8)>>>(fa, fb, 64, w * h / 64 / 2);
  bitrev256<<<w * h / 512, 256>>>((float2 *)fa, (float2 *)fb);
  copySharedMem<<<dim3(w / 32, h / 32), dim3(32, 8)>>>(fb, fa);
  transposeDiagonal<<<dim3(w / TD, h / TD), dim3(TD, TD)>>>(fb, fa, w, h);
  int nz = 32, nx = 48, ny = w * h / nz / nx;
  permuteZYX<<<dim3(3, ny, 2), dim3(16, 16)>>>(da, db, nx, ny, nz);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaDeviceSynchronize());
}
