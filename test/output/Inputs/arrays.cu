// An array of each kind: owned by a warp, filled for several blocks, of a
// thread; and what is declined.
#include "arrays.h"

__global__ void treeSum(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0.f;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

__global__ void tiles(const float *A, const float *B, float *C, int n) {
  __shared__ float As[16][16];
  __shared__ float Bs[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int t = 0; t < n / 16; ++t) {
    As[ty][tx] = A[row * n + t * 16 + tx];
    Bs[ty][tx] = B[(t * 16 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[row * n + col] = sum;
}

__global__ void countBins(const int *in, int *out, int n) {
  int bins[32];
  for (int i = 0; i < 32; ++i)
    bins[i] = 0;
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = g; i < n; i += gridDim.x * blockDim.x)
    ++bins[in[i] & 31];
  for (int i = 0; i < 32; ++i)
    out[g * 32 + i] = bins[i];
}

void run(const float *A, const float *B, float *C, const int *values, int *bins, int n) {
  treeSum<<<(n + 255) / 256, 256>>>(A, C, n);
  tiles<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(A, B, C, n);
  countBins<<<64, 128>>>(values, bins, n);
  inHeader<<<1, 64>>>(values, bins);
  inHeader<<<2, 64>>>(values, bins);
}
