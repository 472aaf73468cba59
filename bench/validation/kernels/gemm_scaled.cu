// C = alpha A B + beta C in tiles of 16 x 16.
#include "validation.cuh"

#define TS 16

__global__ void gemm(const float *A, const float *B, float *C, int M, int N,
                     int K, float alpha, float beta) {
  __shared__ float As[TS][TS];
  __shared__ float Bs[TS][TS];
  const int col = blockIdx.x * TS + threadIdx.x;
  const int row = blockIdx.y * TS + threadIdx.y;
  float acc = 0.0f;
  for (int t = 0; t < K / TS; ++t) {
    As[threadIdx.y][threadIdx.x] = A[row * K + t * TS + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[(t * TS + threadIdx.y) * N + col];
    __syncthreads();
    for (int k = 0; k < TS; ++k)
      acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  C[row * N + col] = alpha * acc + beta * C[row * N + col];
}

void multiply(const float *a, const float *b, float *c, int n) {
  dim3 threads(TS, TS);
  dim3 grid(n / TS, n / TS);
  gemm<<<grid, threads>>>(a, b, c, n, n, n, 1.5f, 0.25f);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1024, 2048, 512}, 48)) {
    size_t e = (size_t)n * n;
    float *a = filled<float>(e, 10), *b = filled<float>(e, 11),
          *c = filled<float>(e, 12);
    measure("gemm", text(n), [&] { multiply(a, b, c, n); }, {result(c, e)});
    release(a, b, c);
  }
}
