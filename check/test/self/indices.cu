// REQUIRES: cuda-toolkit
// Kernels that make indices of their data: what is below zero or large is undefined,
// so that numbers from 0 to 1, and small integers, are tried.
// RUN: %status 0 %check %s --self --device-code=clang 2>&1 | FileCheck %s
// RUN: %status 1 %check %s --self --device-code=clang -- -DWRONG 2>&1 | FileCheck %s --check-prefix=WRONG
// CHECK: equivalent: pick: {{[0-9]+}} launches compared, {{[1-9][0-9]*}} of them by the rewritten form
// CHECK: equivalent: count: {{[0-9]+}} launches compared, {{[1-9][0-9]*}} of them by the rewritten form
// WRONG: different: pick
// WRONG: different: count
#ifdef WRONG
constexpr int Wrong = 1;
#else
constexpr int Wrong = 0;
#endif

template <int Add> __device__ void pickIn(const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < 60)
    __trap(); // few elements may happen to be good ones
  if (i >= n)
    return;
  float table[8];
  for (int k = 0; k < 8; ++k)
    table[k] = k * k;
  y[i] = table[(int)(x[i] * 8)] + (x[i] > 0.5f ? Add : 0);
}
__global__ void pick(const float *x, float *y, int n) { pickIn<0>(x, y, n); }
__global__ void pick_rc(const float *x, float *y, int n) { pickIn<Wrong>(x, y, n); }
void pick_rc_launch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, const float *x, float *y, int n) {
  pick_rc<<<grid, block, shared, stream>>>(x, y, n);
}

template <int Add> __device__ void countIn(const int *x, int *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < 60)
    __trap(); // few elements may happen to be good ones
  if (i >= n)
    return;
  int bins[4] = {};
  for (int k = 0; k < 5; ++k)
    ++bins[x[(i + k) % n]];
  y[i] = bins[0] + 8 * bins[1] + 64 * bins[3] + (bins[2] == 2 ? Add : 0);
}
__global__ void count(const int *x, int *y, int n) { countIn<0>(x, y, n); }
__global__ void count_rc(const int *x, int *y, int n) { countIn<Wrong>(x, y, n); }
void count_rc_launch(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, const int *x, int *y, int n) {
  count_rc<<<grid, block, shared, stream>>>(x, y, n);
}
