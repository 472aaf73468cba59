// Softmax of each row: the greatest, then the sum, on the same scratch array.
#include "validation.cuh"

#define NTH 256

__global__ void softmax(const float *x, float *y, int cols) {
  __shared__ float scratch[NTH];
  const int tid = threadIdx.x;
  x += (size_t)blockIdx.x * cols;
  y += (size_t)blockIdx.x * cols;
  float m = -3.4e38f;
  for (int c = tid; c < cols; c += NTH)
    m = fmaxf(m, x[c]);
  scratch[tid] = m;
  __syncthreads();
  for (int s = NTH >> 1; s > 0; s >>= 1) {
    if (tid < s)
      scratch[tid] = fmaxf(scratch[tid], scratch[tid + s]);
    __syncthreads();
  }
  m = scratch[0];
  __syncthreads();
  float sum = 0.f;
  for (int c = tid; c < cols; c += NTH)
    sum += expf(x[c] - m);
  scratch[tid] = sum;
  __syncthreads();
  for (int s = NTH >> 1; s > 0; s >>= 1) {
    if (tid < s)
      scratch[tid] += scratch[tid + s];
    __syncthreads();
  }
  sum = scratch[0];
  for (int c = tid; c < cols; c += NTH)
    y[c] = expf(x[c] - m) / sum;
}

void normalise(const float *x, float *y, int rows, int cols) {
  softmax<<<rows, NTH>>>(x, y, cols);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (Extent e : extents({{512, 1000, 1}, {16384, 2048, 1}}, {3, 700, 1})) {
    size_t n = (size_t)e.x * e.y;
    float *x = filled<float>(n, 96, -5, 5), *y = zeros<float>(n);
    measure("softmax", text(e), [&] { normalise(x, y, e.x, e.y); },
            {result(y, n)});
    release(x, y);
  }
}
