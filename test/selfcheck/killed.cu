// A kernel whose execution was killed has been seen to its end by nobody, and stays.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rm -rf %t.d && mkdir %t.d && cp %build/bin/rcache-rewrite %t.d/
// RUN: cp %S/Inputs/killed-checker.py %t.d/rcache-check && chmod +x %t.d/rcache-check
// RUN: %t.d/rcache-rewrite %s -o %t.cu --force --self-check=quick --cuda-path=%cuda \
// RUN:   2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: not grep "smooth[_]rc" %t.cu
//
// CHECK: 'smooth' left as it is: {{.*}}killed by signal 11 (Segmentation fault)
__global__ void smooth(const float *in, float *out, int n) {
  __shared__ float s[128 + 2];
  const int t = threadIdx.x, b = blockIdx.x * 128;
  for (int i = t; i < 130; i += 128)
    s[i] = in[min(max(b + i - 1, 0), n - 1)];
  __syncthreads();
  if (b + t < n)
    out[b + t] = s[t] + s[t + 1] + s[t + 2];
}
void run(const float *in, float *out, int n) { smooth<<<(n + 127) / 128, 128>>>(in, out, n); }
