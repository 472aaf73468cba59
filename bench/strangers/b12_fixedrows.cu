// Rows of as many elements as the block has threads: softmax with one array used twice; sums with a volatile tail.
#include "bench.h"

template <int COLS> __global__ void softmaxFixed(const float *logits, float *probs) {
  __shared__ float buf[COLS];
  const int t = threadIdx.x;
  const size_t idx = (size_t)blockIdx.x * COLS + t;
  const float v = logits[idx];
  buf[t] = v;
  __syncthreads();
#pragma unroll
  for (int s = COLS / 2; s > 0; s >>= 1) {
    if (t < s)
      buf[t] = fmaxf(buf[t], buf[t + s]);
    __syncthreads();
  }
  const float m = buf[0];
  __syncthreads();
  const float e = __expf(v - m);
  buf[t] = e;
  __syncthreads();
#pragma unroll
  for (int s = COLS / 2; s > 0; s >>= 1) {
    if (t < s)
      buf[t] += buf[t + s];
    __syncthreads();
  }
  probs[idx] = e / buf[0];
}

__device__ void warpReduce(volatile int *sdata, unsigned int tid) {
  sdata[tid] += sdata[tid + 32];
  sdata[tid] += sdata[tid + 16];
  sdata[tid] += sdata[tid + 8];
  sdata[tid] += sdata[tid + 4];
  sdata[tid] += sdata[tid + 2];
  sdata[tid] += sdata[tid + 1];
}

// the fourth kernel of the reduction talk, with the warp's tail synchronised
__global__ void reduce4(int *g_idata, int *g_odata) {
  __shared__ int sdata[256];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * (256 * 2) + threadIdx.x;
  sdata[tid] = g_idata[i] + g_idata[i + 256];
  __syncthreads();
  for (unsigned int s = 128; s > 32; s >>= 1) {
    if (tid < s)
      sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid < 32) {
    sdata[tid] += sdata[tid + 32];
    __syncwarp();
    for (int k = 16; k > 0; k >>= 1) {
      if (tid < k)
        sdata[tid] += sdata[tid + k];
      __syncwarp();
    }
  }
  if (tid == 0)
    g_odata[blockIdx.x] = sdata[0];
}

// smallest and largest of each block
struct Range {
  float lo, hi;
};

__global__ void minMaxBlocks(const float *__restrict__ v, Range *__restrict__ out, int n) {
  __shared__ float smin[256], smax[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  float x = v[i < n ? i : n - 1];
  smin[threadIdx.x] = x;
  smax[threadIdx.x] = x;
  for (int half = 128; half >= 1; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      smin[threadIdx.x] = fminf(smin[threadIdx.x], smin[threadIdx.x + half]);
      smax[threadIdx.x] = fmaxf(smax[threadIdx.x], smax[threadIdx.x + half]);
    }
  }
  if (threadIdx.x == 0) {
    out[blockIdx.x].lo = smin[0];
    out[blockIdx.x].hi = smax[0];
  }
}

int main() {
  const size_t n = 1 << 25;
  float *x = toDevice(randomFloats(n, 411, -3, 3)), *y = deviceAlloc<float>(n);
  printTime("softmaxFixed", timeMin([&] { softmaxFixed<256><<<n / 256, 256>>>(x, y); }));
  printHash("softmaxFixed", y, n);
  int *in = (int *)toDevice(randomInts<int>(n, 412, 1000)), *out = deviceAlloc<int>(n / 512);
  printTime("reduce4", timeMin([&] { reduce4<<<n / 512, 256>>>(in, out); }));
  printHash("reduce4", out, n / 512);
  const int m = 30000001, blocks = (m + 255) / 256;
  Range *r = deviceAlloc<Range>(blocks);
  printTime("minMaxBlocks", timeMin([&] { minMaxBlocks<<<blocks, 256>>>(x, r, m); }));
  printHash("minMaxBlocks", r, blocks);
}
