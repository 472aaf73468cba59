// Correlation matrix of the columns of normalised data: D^T D in tiles of 32,
// blocks of 32 x 8.
#include "validation.cuh"

constexpr int CT = 32;

__global__ void correlate(const float *__restrict__ data,
                          float *__restrict__ corr, int rows, int cols) {
  __shared__ float left[CT][CT], right[CT][CT];
  const int cx = blockIdx.x * CT + threadIdx.x;
  const int cy = blockIdx.y * CT + threadIdx.x;
  float acc[4] = {0, 0, 0, 0};
  for (int r = 0; r < rows; r += CT) {
    for (int k = threadIdx.y; k < CT; k += 8) {
      left[k][threadIdx.x] = data[(r + k) * cols + cy];
      right[k][threadIdx.x] = data[(r + k) * cols + cx];
    }
    __syncthreads();
    for (int k = 0; k < CT; ++k)
      for (int q = 0; q < 4; ++q)
        acc[q] += left[k][threadIdx.y + 8 * q] * right[k][threadIdx.x];
    __syncthreads();
  }
  for (int q = 0; q < 4; ++q)
    corr[(blockIdx.y * CT + threadIdx.y + 8 * q) * cols + cx] =
        acc[q] / (rows - 1);
}

void matrix(const float *data, float *corr, int rows, int cols) {
  correlate<<<dim3(cols / CT, cols / CT), dim3(CT, 8)>>>(data, corr, rows,
                                                         cols);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1024, 2048}, 64)) {
    int rows = small_only ? 64 : 1024;
    float *d = filled<float>((size_t)rows * n, 70),
          *c = zeros<float>((size_t)n * n);
    measure("correlate", text(n), [&] { matrix(d, c, rows, n); },
            {result(c, (size_t)n * n)});
    release(d, c);
  }
}
