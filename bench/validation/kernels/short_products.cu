// Tiled products of short types with guarded edges: 10-bit counts in unsigned
// short with 32-bit sums, halves with float sums and a bias.
#include "validation.cuh"
#include <cuda_fp16.h>

#define T16 16

__global__ void countsProduct(const unsigned short *A, const unsigned short *B,
                              unsigned *C, int m, int n, int k) {
  __shared__ unsigned short As[T16][T16];
  __shared__ unsigned short Bs[T16][T16];
  const int col = blockIdx.x * T16 + threadIdx.x;
  const int row = blockIdx.y * T16 + threadIdx.y;
  unsigned sum = 0;
  for (int p = 0; p < (k + T16 - 1) / T16; ++p) {
    const int ka = p * T16 + threadIdx.x, kb = p * T16 + threadIdx.y;
    As[threadIdx.y][threadIdx.x] =
        row < m && ka < k ? A[(size_t)row * k + ka] : (unsigned short)0;
    Bs[threadIdx.y][threadIdx.x] =
        kb < k && col < n ? B[(size_t)kb * n + col] : (unsigned short)0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T16; ++i)
      sum += (unsigned)As[threadIdx.y][i] * Bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n)
    C[(size_t)row * n + col] = sum;
}

// 32 x 8 threads make a 32 x 32 tile, four rows each
__global__ void halfLinear(const __half *__restrict__ x,
                           const __half *__restrict__ w,
                           const float *__restrict__ bias, __half *y, int rows,
                           int outs, int ins) {
  __shared__ __half xs[32][33];
  __shared__ __half ws[32][33];
  const int c = blockIdx.x * 32 + threadIdx.x;
  const int r0 = blockIdx.y * 32 + threadIdx.y;
  float acc[4] = {0.f, 0.f, 0.f, 0.f};
  for (int k0 = 0; k0 < ins; k0 += 32) {
    for (int j = 0; j < 32; j += 8) {
      const int kx = k0 + threadIdx.x, kw = k0 + threadIdx.y + j;
      xs[threadIdx.y + j][threadIdx.x] = r0 + j < rows && kx < ins
                                             ? x[(size_t)(r0 + j) * ins + kx]
                                             : __float2half(0.f);
      ws[threadIdx.y + j][threadIdx.x] = kw < ins && c < outs
                                             ? w[(size_t)kw * outs + c]
                                             : __float2half(0.f);
    }
    __syncthreads();
    for (int k = 0; k < 32; ++k) {
      const float b = __half2float(ws[k][threadIdx.x]);
#pragma unroll
      for (int q = 0; q < 4; ++q)
        acc[q] += __half2float(xs[threadIdx.y + 8 * q][k]) * b;
    }
    __syncthreads();
  }
  for (int q = 0; q < 4; ++q)
    if (r0 + 8 * q < rows && c < outs)
      y[(size_t)(r0 + 8 * q) * outs + c] =
          __float2half(fmaxf(acc[q] + bias[c], 0.f));
}

void counts(const unsigned short *a, const unsigned short *b, unsigned *c, int m,
            int n, int k) {
  dim3 block(T16, T16), grid((n + T16 - 1) / T16, (m + T16 - 1) / T16);
  countsProduct<<<grid, block>>>(a, b, c, m, n, k);
}
void linear(const __half *x, const __half *w, const float *bias, __half *y,
            int rows, int outs, int ins) {
  halfLinear<<<dim3((outs + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(
      x, w, bias, y, rows, outs, ins);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{500, 700, 300}, {1024, 1024, 1024}, {3000, 2000, 1111}},
                          {21, 35, 19})) {
    const int m = e.x, n = e.y, k = e.z;
    unsigned short *a = filled<unsigned short>((size_t)m * k, 681, 0, 1024),
                   *b = filled<unsigned short>((size_t)k * n, 682, 0, 1024);
    unsigned *c = zeros<unsigned>((size_t)m * n);
    measure("countsProduct", text(e), [&] { counts(a, b, c, m, n, k); },
            {result(c, (size_t)m * n)});
    release(a, b, c);
  }
  for (Extent e : extents({{256, 1000, 512}, {2048, 768, 768}, {4096, 3072, 768}},
                          {37, 41, 45})) {
    const int rows = e.x, outs = e.y, ins = e.z;
    __half *x = filled<__half>((size_t)rows * ins, 683),
           *w = filled<__half>((size_t)ins * outs, 684, -.1, .1),
           *y = zeros<__half>((size_t)rows * outs);
    float *bias = filled<float>(outs, 685);
    measure("halfLinear", text(e),
            [&] { linear(x, w, bias, y, rows, outs, ins); },
            {result(y, (size_t)rows * outs)});
    release(x, w, y, bias);
  }
}
