// The kernel's braces come out of an included fragment.
// RUN: split-file %s %t
// RUN: %rewrite %t/k.cu -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; macro (the definition does not begin and end in one file)

//--- body.inc
{
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  __syncthreads();
  out[g] = s[127 - threadIdx.x];
}
//--- k.cu
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n)
#include "body.inc"

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
