// Nothing is staged.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// no-shared is a verdict of its own: not-shared.
// CHECK: not-shared k

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < n)
    out[g] = in[g];
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
