// Scalar product of vectors of half2: a loop over the grid, then a tree.
#include "validation.cuh"
#include <cuda_fp16.h>

#define THREADS 128

__global__ void dot_half2(const half2 *a, const half2 *b, float *out,
                          size_t size) {
  __shared__ half2 partial[THREADS];
  const int stride = gridDim.x * blockDim.x;
  half2 value = __float2half2_rn(0.f);
  partial[threadIdx.x] = value;
  for (size_t i = threadIdx.x + blockDim.x * blockIdx.x; i < size; i += stride)
    value = __hfma2(a[i], b[i], value);
  partial[threadIdx.x] = value;
  __syncthreads();
  for (int d = THREADS / 2; d > 0; d >>= 1) {
    if (threadIdx.x < d)
      partial[threadIdx.x] =
          __hadd2(partial[threadIdx.x], partial[threadIdx.x + d]);
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = __low2float(partial[0]) + __high2float(partial[0]);
}

void dot(const half2 *a, const half2 *b, float *out, size_t n, int blocks) {
  dot_half2<<<blocks, THREADS>>>(a, b, out, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  const int blocks = small_only ? 3 : 1024;
  for (int n : sizes({1 << 24, 1 << 20}, 3000)) {
    half2 *a = (half2 *)filled<__half>(2 * (size_t)n, 8, -0.1, 0.1);
    half2 *b = (half2 *)filled<__half>(2 * (size_t)n, 9, -0.1, 0.1);
    float *out = zeros<float>(blocks);
    measure("dot_half2", text(n), [&] { dot(a, b, out, n, blocks); },
            {result(out, blocks)});
    release(a, b, out);
  }
}
