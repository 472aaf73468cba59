// What is written beside the first form, for launches that its plan leaves, has been executed
// too. A form that no launch took is not written, and its launches keep the original.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=quick --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: not grep "could be made up" %t.remarks
// RUN: FileCheck %s --check-prefix=ALL < %t.cu
// RUN: rcache-check %t.cu --self --report=json --cuda-path=%cuda \
// RUN:   | tr -d ' \n' | FileCheck %s --check-prefix=RAN
//
// The same with a checker that says that the one for 512 threads has not run.
// RUN: rm -rf %t.d && mkdir %t.d && cp %build/bin/rcache-rewrite %t.d/
// RUN: cp %S/Inputs/half-checker.py %t.d/rcache-check && chmod +x %t.d/rcache-check
// RUN: %t.d/rcache-rewrite %s -o %t.less.cu --force --self-check=quick --cuda-path=%cuda \
// RUN:   2> %t.remarks
// RUN: FileCheck %s --check-prefix=LESS < %t.remarks
// RUN: not grep "^ *total.*_block512<<<" %t.less.cu
// RUN: FileCheck %s --check-prefix=REST < %t.less.cu
//
// CHECK: note: blocks of 128 threads: {{.*}}owned by a warp
// CHECK: note: blocks of 512 threads: {{.*}}owned by a warp
// CHECK: executed before it was written
// ALL-DAG: total{{_rc}}_block128<<<
// ALL-DAG: total{{_rc}}_block512<<<
// RAN: "ran":[{{[^]]*}}"total{{_rc}}"{{[^]]*}}"total{{_rc}}_block128"{{[^]]*}}"total{{_rc}}_block512"
// LESS: note: blocks of 512 threads: the original, as no launch could be made up
// LESS: executed before it was written: 7 launches
// REST: total{{_rc}}_block128<<<

__global__ void total(const float *in, float *out, int n) {
  __shared__ float s[512];
  const int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  s[t] = g < n ? in[g] : 0.f;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

void launch(const float *in, float *out, int n, int threads) {
  total<<<(n + threads - 1) / threads, threads>>>(in, out, n);
}
