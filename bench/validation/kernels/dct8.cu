// Discrete cosine transform of 8 x 8 blocks of an image, as two products with a
// constant matrix; an 8 x 8 block of threads for each.
#include "validation.cuh"
#include <cmath>

__constant__ float basis[64];

__global__ void dct8x8(float *dst, const float *src, size_t stride) {
  __shared__ float block[64];
  __shared__ float rows[64];
  const int tx = threadIdx.x, ty = threadIdx.y;
  size_t at = (blockIdx.y * 8 + ty) * stride + blockIdx.x * 8 + tx;
  block[ty * 8 + tx] = src[at] - 128.0f;
  __syncthreads();
  float v = 0;
#pragma unroll
  for (int i = 0; i < 8; i++)
    v += basis[ty * 8 + i] * block[i * 8 + tx];
  rows[ty * 8 + tx] = v;
  __syncthreads();
  v = 0;
#pragma unroll
  for (int i = 0; i < 8; i++)
    v += rows[ty * 8 + i] * basis[tx * 8 + i];
  dst[at] = v;
}

void dct(float *dst, const float *src, int w, int h) {
  dim3 threads(8, 8);
  dim3 grid(w / 8, h / 8);
  dct8x8<<<grid, threads>>>(dst, src, w);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  float c[64];
  for (int k = 0; k < 8; ++k)
    for (int i = 0; i < 8; ++i)
      c[k * 8 + i] =
          (k ? 0.5f : 0.35355339f) * cosf((2 * i + 1) * k * 3.14159265f / 16);
  check(cudaMemcpyToSymbol(basis, c, sizeof c));
  for (Extent e : extents({{640, 480, 1}, {4096, 4096, 1}}, {32, 16, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *in = filled<float>(n, 110, 0, 255), *out = zeros<float>(n);
    measure("dct8x8", text(e), [&] { dct(out, in, e.x, e.y); },
            {result(out, n)});
    release(in, out);
  }
}
