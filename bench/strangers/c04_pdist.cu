// Squared Euclidean distances of all pairs of points, points row by row.
#include "bench.h"

template <int T>
__global__ void pairwiseDistances(const float *__restrict__ X, const float *__restrict__ Y, float *__restrict__ D,
                                  unsigned nx, unsigned ny, unsigned dim) {
  __shared__ float xs[T][T + 1];
  __shared__ float ys[T][T + 1];
  unsigned i = blockIdx.y * T + threadIdx.y;
  unsigned j = blockIdx.x * T + threadIdx.x;
  unsigned jy = blockIdx.x * T + threadIdx.y;
  float d2 = 0.0f;
  for (unsigned d = 0; d < dim; d += T) {
    xs[threadIdx.y][threadIdx.x] = (i < nx && d + threadIdx.x < dim) ? X[i * dim + d + threadIdx.x] : 0.0f;
    ys[threadIdx.y][threadIdx.x] = (jy < ny && d + threadIdx.x < dim) ? Y[jy * dim + d + threadIdx.x] : 0.0f;
    __syncthreads();
    for (int k = 0; k < T; ++k) {
      float diff = xs[threadIdx.y][k] - ys[threadIdx.x][k];
      d2 += diff * diff;
    }
    __syncthreads();
  }
  if (i < nx && j < ny)
    D[(size_t)i * ny + j] = sqrtf(d2);
}

int main() {
  const unsigned nx = 3000, ny = 5000, dim = 100;
  float *X = toDevice(randomFloats(nx * dim, 231)), *Y = toDevice(randomFloats(ny * dim, 232));
  float *D = deviceAlloc<float>((size_t)nx * ny);
  dim3 b(16, 16), g((ny + 15) / 16, (nx + 15) / 16);
  printTime("pairwiseDistances", timeMin([&] { pairwiseDistances<16><<<g, b>>>(X, Y, D, nx, ny, dim); }));
  printHash("pairwiseDistances", D, (size_t)nx * ny);
}
