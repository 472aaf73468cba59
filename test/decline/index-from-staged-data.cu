// An index made from the staged data itself.
// RUN: %rewrite %s -q --list -- %mock 2>&1 | FileCheck %s
// CHECK: declined fromData; data-dependent-index ('s[s[t] > s[0] ? t : 0]')

__global__ void fromData(const double *__restrict__ in, double *__restrict__ out, int n) {
__shared__ double s[256];
const int t = threadIdx.x;
const int g = blockIdx.x * 256 + t;
s[t] = g < n ? in[g] : (double)1;
__syncthreads();
if (g < n)
  out[g] = s[s[t] > s[0] ? t : 0];
}

void launch(const double *in, double *out, int n) {
  fromData<<<(n + 255) / 256, 256>>>(in, out, n);
}
