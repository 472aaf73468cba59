// A launch out of a macro is not edited inside the macro.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; launch-not-editable

#define LAUNCH(kernel, blocks) kernel<<<blocks, 128>>>
__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[g];
  __syncthreads();
  out[g] = s[127 - threadIdx.x];
}

void run(const float *in, float *out, int n) { LAUNCH(k, (n + 127) / 128)(in, out, n); }
