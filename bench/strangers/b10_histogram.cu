// Histogram of bytes with atomics in shared memory.
#include "bench.h"

__global__ void histogram256(const unsigned char *data, unsigned int *bins, size_t n) {
  __shared__ unsigned int local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

int main() {
  const size_t n = 64u << 20;
  unsigned char *data = toDevice(randomInts<unsigned char>(n, 131, 256));
  unsigned int *bins = deviceAlloc<unsigned int>(256);
  float ms = timeMin([&] { histogram256<<<1056, 256>>>(data, bins, n); });
  CUDA_CHECK(cudaMemset(bins, 0, 256 * sizeof(unsigned int)));
  histogram256<<<1056, 256>>>(data, bins, n);
  printTime("histogram256", ms);
  printHash("histogram256", bins, 256);
}
