// Names of the program that the self-check's own text might use: macros, and something else
// that has the name a launch function would have. All kernels are executed all the same.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --self-check=quick -o %t.cu --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: %compile -std=c++17 -c %t.cu -o %t.o
//
// CHECK: rewrote 'taken'
// CHECK: executed before it was written: {{[0-9]+}} launches
// CHECK: rewrote 'generic<3>'
// CHECK: executed before it was written: {{[0-9]+}} launches
// CHECK: rewrote 'ns::called'
// CHECK: executed before it was written: {{[0-9]+}} launches
// CHECK-NOT: not executed
#define Size 4
#define Param 5
#define dim 6
#define direct 7
#define indirect 8
#define describe 9
#define at 10
#define kind 11
#define Out 12
#define All 13
#define threads 128
#define grid ((n + threads - 1) / threads)
#define STAGE(in)                                                              \
  __shared__ float s[threads + 2];                                             \
  for (int i = threadIdx.x; i < threads + 2; i += threads) {                   \
    const int x = blockIdx.x * threads + i - 1;                                \
    s[i] = x >= 0 && x < n ? in[x] : 0.f;                                      \
  }                                                                            \
  __syncthreads();                                                             \
  const int g = blockIdx.x * threads + threadIdx.x;

int taken_rc_launch = 3;
__global__ void taken(const float *a, float *b, int n) {
  STAGE(a)
  if (g < n)
    b[g] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}

struct generic_rc_launch {};
template <int K> __global__ void generic(const float *a, float *b, int n) {
  STAGE(a)
  if (g < n)
    b[g] = s[threadIdx.x] + K * s[threadIdx.x + 1];
}

namespace ns {
void called_rc_launch(int) {}
__global__ void called(const float *a, float *b, int n) {
  STAGE(a)
  if (g < n)
    b[g] = s[threadIdx.x + 2] - s[threadIdx.x];
}
} // namespace ns

void run(const float *a, float *b, int n) {
  taken<<<grid, threads>>>(a, b, n);
  generic<3><<<grid, threads>>>(a, b, n);
  ns::called<<<grid, threads>>>(a, b, n);
}
