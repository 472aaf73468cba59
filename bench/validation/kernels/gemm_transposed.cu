// C = A B^T in double precision, tiles of 32 x 32 with a padded column, matrix
// structures.
#include "validation.cuh"

template <typename T> struct Matrix {
  T *data;
  int rows, cols, ld;
};

template <typename T, int BS>
__global__ void multiply_nt(Matrix<const T> a, Matrix<const T> b, Matrix<T> c) {
  __shared__ T as[BS][BS + 1];
  __shared__ T bs[BS][BS + 1];
  const int r = blockIdx.y * BS + threadIdx.y;
  const int q = blockIdx.x * BS + threadIdx.x;
  T value = 0;
  for (int k0 = 0; k0 < a.cols; k0 += BS) {
    as[threadIdx.y][threadIdx.x] = a.data[r * a.ld + k0 + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] =
        b.data[(blockIdx.x * BS + threadIdx.y) * b.ld + k0 + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < BS; ++k)
      value += as[threadIdx.y][k] * bs[threadIdx.x][k];
    __syncthreads();
  }
  c.data[r * c.ld + q] = value;
}

void product(const double *a, const double *b, double *c, int n, int k) {
  Matrix<const double> ma = {a, n, k, k}, mb = {b, n, k, k};
  Matrix<double> mc = {c, n, n, n};
  multiply_nt<double, 32>
      <<<dim3(n / 32, n / 32), dim3(32, 32)>>>(ma, mb, mc);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1024, 2048}, 64)) {
    size_t e = (size_t)n * n;
    double *a = filled<double>(e, 66), *b = filled<double>(e, 67),
           *c = zeros<double>(e);
    measure("multiply_nt<double,32>", text(n), [&] { product(a, b, c, n, n); },
            {result(c, e)});
    release(a, b, c);
  }
}
