// Areas of trapezoids between samples of two functions.
#include "validation.cuh"

namespace quadrature {
__global__ void areas(const float *xs, const float *ys, float *area, int n) {
  __shared__ float sx[256 + 1], sy[256 + 1];
  int k = blockDim.x * blockIdx.x + threadIdx.x;
  sx[threadIdx.x] = xs[k];
  sy[threadIdx.x] = ys[k];
  if (threadIdx.x == blockDim.x - 1) {
    sx[threadIdx.x + 1] = xs[k + 1];
    sy[threadIdx.x + 1] = ys[k + 1];
  }
  __syncthreads();
  area[k] = 0.5f * (sy[threadIdx.x] + sy[threadIdx.x + 1]) *
            (sx[threadIdx.x + 1] - sx[threadIdx.x]);
}

void integrate(const float *xs, const float *ys, float *area, int n) {
  dim3 block(256);
  dim3 grid(n / 256);
  areas<<<grid, block>>>(xs, ys, area, n);
}
} // namespace quadrature

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 26, 1 << 21}, 1024)) {
    float *x = filled<float>(n + 1, 26), *y = filled<float>(n + 1, 27),
          *a = zeros<float>(n);
    measure("quadrature::areas", text(n),
            [&] { quadrature::integrate(x, y, a, n); }, {result(a, n)});
    release(x, y, a);
  }
}
