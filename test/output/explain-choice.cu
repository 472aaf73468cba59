// The table of candidates, the same in the report, and one of them by number.
// RUN: %rewrite %s -o %t.cu -q --explain-choice --report=%t.json -- %mock 2> %t.err
// RUN: FileCheck %s --input-file %t.err
// RUN: %python %S/Inputs/choice_agrees.py %t.json %t.err
//
// CHECK: candidates of 'sum5' on sm_90 (H200), figures per output:
// CHECK-NEXT: # outputs block loads {{.*}} regs warps clocks limit predicted rank
// CHECK-NEXT: - 1 128 {{.*}} ~{{[0-9]+}} {{.*}} 1.00x - the original
// CHECK-NEXT: 0 {{.*}}x {{.*}} s: {{.*}}
// CHECK: <- chosen
// CHECK: #[[#N:]] was chosen: the highest rank ({{.*}}): predicted {{.*}}x, limited by {{[a-z0-9]+}}; next is #
//
// A kernel without candidates has no table.
// CHECK-NOT: candidates of 'plain'
//
// Any candidate can be had.
// RUN: %rewrite %s -o - -q --explain-choice --candidate=0 -- %mock 2>&1 | FileCheck %s --check-prefix=FIRST
// FIRST: #0 was chosen: it was asked for
// FIRST: sum5_rc
//
// RUN: not %rewrite %s --candidate=x -- %mock 2>&1 | FileCheck %s --check-prefix=USAGE
// USAGE: --candidate takes a number, not 'x'

__global__ void sum5(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[132];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = g < n ? in[g] : 0.0f;
  if (threadIdx.x < 4)
    s[threadIdx.x + 128] = g + 128 < n ? in[g + 128] : 0.0f;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 5; ++i)
    sum += s[threadIdx.x + i];
  if (g < n)
    out[g] = sum;
}

__global__ void plain(float *out) { out[threadIdx.x] = 0; }

void run(const float *in, float *out, int n) {
  sum5<<<(n + 127) / 128, 128>>>(in, out, n);
  plain<<<1, 32>>>(out);
}
