// Sums per block, as the reduction samples have them.
#include "bench.h"

// neighbouring pairs, stride doubles
__global__ void reduceInterleaved(const int *g_idata, int *g_odata, unsigned int n) {
  extern __shared__ int sdata[];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = (i < n) ? g_idata[i] : 0;
  __syncthreads();
  for (unsigned int s = 1; s < blockDim.x; s *= 2) {
    if ((tid % (2 * s)) == 0)
      sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0)
    g_odata[blockIdx.x] = sdata[0];
}

// sequential addressing, first add during load
template <class T, unsigned int blockSize>
__global__ void reduceSequential(const T *__restrict__ g_idata, T *__restrict__ g_odata, size_t n) {
  __shared__ T sdata[blockSize];
  unsigned int tid = threadIdx.x;
  size_t i = (size_t)blockIdx.x * (blockSize * 2) + tid;
  T mySum = i < n ? g_idata[i] : T(0);
  if (i + blockSize < n)
    mySum += g_idata[i + blockSize];
  sdata[tid] = mySum;
  __syncthreads();
#pragma unroll
  for (unsigned int s = blockSize / 2; s > 0; s >>= 1) {
    if (tid < s)
      sdata[tid] = mySum = mySum + sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0)
    g_odata[blockIdx.x] = mySum;
}

int main() {
  const unsigned n = 1u << 25;
  {
    const int threads = 256, blocks = n / threads;
    int *in = toDevice(randomInts<int>(n, 41, 1 << 20)), *out = deviceAlloc<int>(blocks);
    printTime("reduceInterleaved",
              timeMin([&] { reduceInterleaved<<<blocks, threads, threads * sizeof(int)>>>(in, out, n); }));
    printHash("reduceInterleaved", out, blocks);
    cudaFree(in);
    cudaFree(out);
  }
  {
    const int blocks = (n + 1023) / 1024;
    float *in = toDevice(randomFloats(n, 42)), *out = deviceAlloc<float>(blocks);
    float ms = timeMin([&] { reduceSequential<float, 512><<<blocks, 512>>>(in, out, (size_t)n - 100); });
    printTime("reduceSequential", ms);
    printHash("reduceSequential", out, blocks);
  }
  return 0;
}
