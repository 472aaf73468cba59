// What the host's compiler alone refuses of the new text is found before it is handed
// out: here a name that the launch function needs may not be used there.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=quick --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// An original that does not compile there says nothing of the rewrite.
// RUN: rcache-rewrite %s -o %t.both.cu --force --self-check=quick --cuda-path=%cuda -- -DBROKEN 2>&1 | FileCheck %s --check-prefix=BOTH
//
// CHECK-DAG: rewrote 'first'
// CHECK-DAG: 'second' left as it is: {{.*}} (the new text does not compile, line {{[0-9]+}}: attempt to use a poisoned identifier) [self-check-failed]
// BOTH: rewrote 'first'
// BOTH: not executed: {{.*}}_rc.cu:{{[0-9]+}}: "the original is broken"
// BOTH: rewrote 'second'
// BOTH: not executed: {{.*}}_rc.cu:{{[0-9]+}}: "the original is broken"
#if defined(BROKEN) && !defined(__CUDA_ARCH__)
#error "the original is broken"
#endif

#define STAGE(s, a)                                                            \
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;                         \
  s[l] = g < n ? a[g] : 0;                                                     \
  if (l < 2)                                                                   \
    s[l + 256] = g + 256 < n ? a[g + 256] : 0;                                 \
  __syncthreads();

// TEXT: first_rc_launch(dim3
__global__ void first(const float *a, float *b, int n) {
  __shared__ float s[258];
  STAGE(s, a)
  if (g < n)
    b[g] = s[l] + s[l + 1] + s[l + 2];
}
void launchFirst(const float *a, float *b, int n) {
  first<<<(n + 255) / 256, 256>>>(a, b, n);
}

#ifndef __CUDA_ARCH__
#pragma GCC poison cudaStream_t
#endif
// TEXT-NOT: second{{_}}rc
__global__ void second(const float *a, float *b, int n) {
  __shared__ float s[258];
  STAGE(s, a)
  if (g < n)
    b[g] = s[l] - s[l + 2];
}
// TEXT: second<<<
void launchSecond(const float *a, float *b, int n) {
  second<<<(n + 255) / 256, 256>>>(a, b, n);
}
