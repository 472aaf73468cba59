// Launches of 1, 16, 100 and 1000 blocks of one small stencil.
#include "validation.cuh"

__global__ void blend(const float *a, float *b, int n) {
  __shared__ float w[258];
  int i = blockIdx.x * 256 + threadIdx.x;
  int j = min(i, n - 1);
  w[threadIdx.x + 1] = a[j];
  if (threadIdx.x == 0)
    w[0] = a[max(j - 1, 0)];
  if (threadIdx.x == 255)
    w[257] = a[min(j + 1, n - 1)];
  __syncthreads();
  if (i < n)
    b[i] = 0.3f * w[threadIdx.x] + 0.4f * w[threadIdx.x + 1] +
           0.3f * w[threadIdx.x + 2];
}

void smooth(const float *a, float *b, int n) {
  int blocks = (n + 255) / 256;
  blend<<<blocks, 256>>>(a, b, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({256, 16 * 256, 100 * 256, 1000 * 256, 2500 * 256}, 300)) {
    float *a = filled<float>(n, 112), *b = zeros<float>(n);
    measure("blend", text(n), [&] { smooth(a, b, n); }, {result(b, n)});
    release(a, b);
  }
}
