// A template that nobody launches.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; not-instantiated

template <typename T>
__global__ void k(const T *__restrict__ in, T *__restrict__ out, int n) {
  __shared__ T s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  __syncthreads();
  out[g] = s[127 - threadIdx.x];
}
