// Layer norm: mean and variance of a row of 768 by trees, three elements a
// thread, a struct of parameters.
#include "validation.cuh"

struct NormParams {
  const float *x, *gamma, *beta;
  float *y;
  float eps;
};

constexpr int kThreads = 256;
constexpr int kPer = 3;

__device__ inline float block_sum(float v, float *buf) {
  buf[threadIdx.x] = v;
  __syncthreads();
  for (int off = kThreads / 2; off >= 1; off /= 2) {
    if ((int)threadIdx.x < off)
      buf[threadIdx.x] += buf[threadIdx.x + off];
    __syncthreads();
  }
  float r = buf[0];
  __syncthreads();
  return r;
}

__global__ void layer_norm(NormParams p) {
  __shared__ float buf[kThreads];
  const size_t row = (size_t)blockIdx.x * kThreads * kPer;
  float v[kPer], s = 0;
  for (int i = 0; i < kPer; ++i) {
    v[i] = p.x[row + threadIdx.x + i * kThreads];
    s += v[i];
  }
  float mean = block_sum(s, buf) / (kThreads * kPer);
  float q = 0;
  for (int i = 0; i < kPer; ++i)
    q += (v[i] - mean) * (v[i] - mean);
  float inv = rsqrtf(block_sum(q, buf) / (kThreads * kPer) + p.eps);
  for (int i = 0; i < kPer; ++i) {
    int c = threadIdx.x + i * kThreads;
    p.y[row + c] = (v[i] - mean) * inv * p.gamma[c] + p.beta[c];
  }
}

void norm(const NormParams &p, int rows) { layer_norm<<<rows, kThreads>>>(p); }

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int rows : sizes({512, 32768}, 3)) {
    size_t n = (size_t)rows * 768;
    float *x = filled<float>(n, 97), *y = zeros<float>(n),
          *g = filled<float>(768, 98), *b = filled<float>(768, 99);
    NormParams p = {x, g, b, y, 1e-5f};
    measure("layer_norm", text(rows), [&] { norm(p, rows); }, {result(y, n)});
    release(x, y, g, b);
  }
}
