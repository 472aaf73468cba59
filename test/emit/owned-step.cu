// A tail that counts on a warp in step: each thread reads what another one writes
// between the same two barriers. What is copied in front of these statements would be
// too old, so no warp owns the array.
//
// RUN: rcache-rewrite %s -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
//
// REQUIRES: cuda-toolkit
#include "program.h"

__device__ void lastWarp(volatile float *s, int t) {
  s[t] += s[t + 32];
  s[t] += s[t + 16];
  s[t] += s[t + 8];
  s[t] += s[t + 4];
  s[t] += s[t + 2];
  s[t] += s[t + 1];
}
// CHECK-DAG: 'volatileTail' left as it is: {{.*}}('s{{.*}}[t + 16]' is what another lane has made of it in line 29) [volatile-tail]
// CHECK-DAG: note: put __syncwarp() between the steps, or pass --assume-lockstep
__global__ void volatileTail(const float *in, float *out) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  if (t < 64)
    s[t] += s[t + 64];
  __syncthreads();
  if (t < 32)
    lastWarp(s, t);
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// Without volatile.
// CHECK-DAG: 'inStep' left as it is: {{.*}}[computed-exchange]
// CHECK-DAG: note: a warp could hold the array, but 's[t - d]' in line 44 is changed by another thread meanwhile: the kernel counts on a warp in step
__global__ void inStep(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    if (t >= d)
      s[t] += s[t - d];
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = s[t];
}

// One thread writes what all read.
// CHECK-DAG: 'readByAll' left as it is
__global__ void readByAll(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  __syncthreads();
  for (int r = 0; r < 4; ++r) {
    if (t == 0)
      s[0] = r;
    int v = s[0];
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  out[g] = s[t];
}

int main() {
  const int n = 1024;
  Buffer<float> F(randoms<float>(n)), G(n);
  Buffer<int> I(randoms<int>(n)), J(n);
  volatileTail<<<n / 128, 128>>>(F.Data, G.Data);
  inStep<<<n / 64, 64>>>(I.Data, J.Data);
  readByAll<<<n / 64, 64>>>(I.Data, J.Data);
}
