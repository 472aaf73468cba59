// Scalar products of many short vectors: a block for a pair, accumulators in
// shared memory, then a tree.
#include "validation.cuh"

#define ACCUM_N 512

__global__ void scalar_products(float *d_C, const float *d_A, const float *d_B,
                                int vectors, int length) {
  __shared__ float accumResult[ACCUM_N];
  for (int vec = blockIdx.x; vec < vectors; vec += gridDim.x) {
    int base = length * vec, end = base + length;
    for (int i = threadIdx.x; i < ACCUM_N; i += blockDim.x) {
      float sum = 0;
      for (int pos = base + i; pos < end; pos += ACCUM_N)
        sum += d_A[pos] * d_B[pos];
      accumResult[i] = sum;
    }
    for (int stride = ACCUM_N / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      for (int i = threadIdx.x; i < stride; i += blockDim.x)
        accumResult[i] += accumResult[stride + i];
    }
    __syncthreads();
    if (threadIdx.x == 0)
      d_C[vec] = accumResult[0];
    __syncthreads();
  }
}

void products(float *c, const float *a, const float *b, int vectors, int n) {
  scalar_products<<<128, 256>>>(c, a, b, vectors, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{256, 4096, 1}, {4096, 4096, 1}}, {4, 1000, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *a = filled<float>(n, 94), *b = filled<float>(n, 95),
          *c = zeros<float>(e.x);
    measure("scalar_products", text(e), [&] { products(c, a, b, e.x, e.y); },
            {result(c, e.x)});
    release(a, b, c);
  }
}
