// Two arrays of dynamic size begin at the same address.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined k{{.*}}; dynamic-arrays

__global__ void k(const float *a, const float *b, float *out, int n) {
  extern __shared__ float s[];
  extern __shared__ float q[];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? a[g] : 0;
  q[t] = g < n ? b[g] : 0;
  __syncthreads();
  if (g < n)
    out[g] = s[t] + 2 * q[t ^ 1];
}

void run(const float *a, const float *b, float *out, int n) {
  k<<<(n + 255) / 256, 256, 2048>>>(a, b, out, n);
}
