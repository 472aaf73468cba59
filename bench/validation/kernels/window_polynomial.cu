// Eight neighbouring samples are the coefficients of a polynomial.
#include "validation.cuh"

#define DEGREE 7
#define BS 128

__device__ float horner(const float *c, float x) {
  float r = c[DEGREE];
  for (int i = DEGREE - 1; i >= 0; --i)
    r = r * x + c[i];
  return r;
}

__global__ void evaluate(float *value, const float *coef, const float *at,
                         unsigned n) {
  __shared__ float c[BS + DEGREE];
  unsigned id = blockIdx.x * BS + threadIdx.x;
  c[threadIdx.x] = coef[id];
  if (threadIdx.x < DEGREE)
    c[BS + threadIdx.x] = coef[id + BS];
  __syncthreads();
  if (id < n)
    value[id] = horner(&c[threadIdx.x], at[id]);
}

void launch_evaluate(float *value, const float *coef, const float *at,
                     unsigned n) {
  evaluate<<<(n + BS - 1) / BS, BS>>>(value, coef, at, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 25, 3000000}, 900)) {
    size_t m = (size_t)ceil_div(n, BS) * BS + DEGREE;
    float *c = filled<float>(m, 23), *x = filled<float>(n, 24),
          *v = zeros<float>(n);
    measure("evaluate", text(n), [&] { launch_evaluate(v, c, x, n); },
            {result(v, n)});
    release(c, x, v);
  }
}
