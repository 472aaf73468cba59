// The index of a read that is served from its source names a variable with one
// value a slot.
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite --force %s -o %t.cu --cuda-path=%cuda 2> /dev/null
// RUN: FileCheck %s < %t.cu
// RUN: %nvcc -std=c++17 -ptx %t.cu -o %t.ptx
// CHECK: rc_s_at({{.*}}j[rc_s]{{.*}})
#include <cuda_runtime.h>

__global__ void run_length(const float *__restrict__ in,
                           float *__restrict__ out, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  const int g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0.0f;
  __syncthreads();
  int j = t;
  while (j < 128 && s[j] > 0.0f)
    ++j;
  if (g < n)
    out[g] = (float)j;
}

void launch(const float *in, float *out, int n) {
  run_length<<<(n + 127) / 128, 128>>>(in, out, n);
}
