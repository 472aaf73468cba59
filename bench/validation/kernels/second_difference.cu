// Second difference in double precision; first and last thread bring the halo.
#include "validation.cuh"

typedef double Real;

__global__ void d2(const Real *f, Real *df, const Real h2inv, const int n) {
  __shared__ Real sf[192 + 2];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int s = threadIdx.x + 1;
  if (i < n) {
    sf[s] = f[i];
    if (threadIdx.x == 0 && i > 0)
      sf[0] = f[i - 1];
    if (threadIdx.x == blockDim.x - 1 && i < n - 1)
      sf[s + 1] = f[i + 1];
  }
  __syncthreads();
  if (i > 0 && i < n - 1)
    df[i] = (sf[s + 1] - 2.0 * sf[s] + sf[s - 1]) * h2inv;
}

void differentiate(const Real *f, Real *df, int n) {
  d2<<<(n + 191) / 192, 192>>>(f, df, 1e4, n);
}

int main(int argc, char **argv) {
  using namespace validation;
  start(argc, argv);
  for (int n : sizes({1 << 25, 1000000}, 777)) {
    Real *f = filled<Real>(n, 22), *df = zeros<Real>(n);
    measure("d2", text(n), [&] { differentiate(f, df, n); }, {result(df, n)});
    release(f, df);
  }
}
