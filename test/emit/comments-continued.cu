// A comment that goes on behind a backslash at the end of its line is one comment.
//
// RUN: rcache-rewrite %s --force --self-check=off -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
//
// REQUIRES: cuda-toolkit
#include "program.h"

// CHECK-DAG: rewrote 'stages'
__global__ void stages(const float *in, float *out, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t; // trailing \
  comment g = 7;
  for (int i = t; i < 130; i += 128)
    s[i] = fabsf(in[blockIdx.x * 128 + i]) // not \
           * 3.f
           + 1.f;
  __syncthreads();
  if (g < n)
    out[g] = s[t] // nor \
             - s[t + 1]
             + s[t + 2];
}

int main() {
  const int n = 1000;
  const Buffer<float> in(randoms<float>(n + 200));
  Buffer<float> out(n);
  stages<<<8, 128>>>(in.Data, out.Data, n);
  out.show("stages", n);
}
