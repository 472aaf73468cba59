// Softmax and layer normalisation of rows, a block a row.
#include "bench.h"
#include <cooperative_groups.h>
#include <float.h>

namespace cg = cooperative_groups;

__global__ void softmaxRows(const float *__restrict__ x, float *__restrict__ y, int cols) {
  extern __shared__ float red[];
  const float *row = x + (size_t)blockIdx.x * cols;
  float *o = y + (size_t)blockIdx.x * cols;
  int tid = threadIdx.x;
  float m = -FLT_MAX;
  for (int i = tid; i < cols; i += blockDim.x)
    m = fmaxf(m, row[i]);
  red[tid] = m;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s)
      red[tid] = fmaxf(red[tid], red[tid + s]);
    __syncthreads();
  }
  m = red[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = tid; i < cols; i += blockDim.x)
    sum += expf(row[i] - m);
  red[tid] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s)
      red[tid] += red[tid + s];
    __syncthreads();
  }
  float inv = 1.0f / red[0];
  for (int i = tid; i < cols; i += blockDim.x)
    o[i] = expf(row[i] - m) * inv;
}

__global__ void layerNorm(const float *__restrict__ x, const float *__restrict__ gamma,
                          const float *__restrict__ beta, float *__restrict__ y, float eps) {
  cg::thread_block blk = cg::this_thread_block();
  __shared__ float s1[256];
  __shared__ float s2[256];
  const int t = threadIdx.x;
  const size_t at = (size_t)blockIdx.x * 256 + t;
  float v = x[at];
  s1[t] = v;
  s2[t] = v * v;
  blk.sync();
  for (int k = 128; k > 0; k >>= 1) {
    if (t < k) {
      s1[t] += s1[t + k];
      s2[t] += s2[t + k];
    }
    blk.sync();
  }
  float mean = s1[0] / 256.0f;
  float var = s2[0] / 256.0f - mean * mean;
  y[at] = (v - mean) * rsqrtf(var + eps) * gamma[t] + beta[t];
}

int main() {
  const int rows = 16384, cols = 1024;
  const size_t n = (size_t)rows * cols;
  float *x = toDevice(randomFloats(n, 81, -4, 4)), *y = deviceAlloc<float>(n);
  const int threads = 256;
  printTime("softmaxRows", timeMin([&] { softmaxRows<<<rows, threads, threads * sizeof(float)>>>(x, y, cols); }));
  printHash("softmaxRows", y, n);
  float *gamma = toDevice(randomFloats(256, 82)), *beta = toDevice(randomFloats(256, 83));
  printTime("layerNorm", timeMin([&] { layerNorm<<<(unsigned)(n / 256), 256>>>(x, gamma, beta, y, 1e-5f); }));
  printHash("layerNorm", y, n);
}
