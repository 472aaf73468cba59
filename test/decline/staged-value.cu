// What is staged is the result of a loop: not a function of the element that the tool can repeat.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; staged-value (what is written to 's' is made from

__global__ void k(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[128];
  int g = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 0;
  for (int i = 0; i < n; ++i)
    v += in[g + i];
  s[threadIdx.x] = v;
  __syncthreads();
  out[g] = s[127 - threadIdx.x];
}

void run(const float *in, float *out, int n) { k<<<(n + 127) / 128, 128>>>(in, out, n); }
