// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of one name, and those with parameters that have none, are executed as
// others are: each with the launch function that is its own.

// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=quick --cuda-path=%cuda > %t.remarks 2>&1
// RUN: FileCheck --implicit-check-not='not executed' %s < %t.remarks
// RUN: rcache-check %t.cu --self --report=json --cuda-path=%cuda | FileCheck --check-prefix=JSON %s
// RUN: rcache-check %t.cu --kernel=blur --trials=20 --cuda-path=%cuda 2>&1 | FileCheck --check-prefix=HARNESS %s
// A fault in one of them is this one's.
// RUN: sed 's/rc_s_w\[rc_s\] + rc_s_w\[rc_s + 2\]/rc_s_w[rc_s] + rc_s_w[rc_s + 1]/' %t.cu > %t.wrong.cu
// RUN: not diff -q %t.cu %t.wrong.cu
// RUN: not rcache-check %t.wrong.cu --self --cuda-path=%cuda 2> %t.wrong
// RUN: FileCheck --check-prefix=WRONG %s < %t.wrong

// CHECK: rewrote 'blur'
// CHECK: note: executed before
// CHECK: rewrote 'blur'
// CHECK: note: executed before
// CHECK: rewrote 'blur'
// CHECK: note: executed before
// CHECK: rewrote 'ns::two<float>'
// CHECK: note: executed before
// CHECK: rewrote 'ns::two<float>'
// CHECK: note: executed before
// CHECK: rewrote 'unnamed'
// CHECK: note: executed before
// JSON-DAG: "kernel": "blur(const float *, float *, int, Clamp)"
// JSON-DAG: "kernel": "blur(const float *, float *, int, Zero)"
// JSON-DAG: "kernel": "blur(const int *, int *, int, (anonymous namespace)::Hidden)"
// JSON-DAG: "symbol": "_Z4blurPKfPfi5Clamp"
// JSON-DAG: "kernel": "ns::two<float>(const float *, float *, int, float)"
// HARNESS: equivalent: blur(const float *, float *, int, Clamp): {{.*}}, {{[1-9][0-9]*}} of them by a rewritten kernel
// HARNESS: equivalent: blur(const float *, float *, int, Zero): {{.*}}, {{[1-9][0-9]*}} of them by a rewritten kernel
// HARNESS: equivalent: blur(const int *, int *, int, (anonymous namespace)::Hidden): {{.*}}, {{[1-9][0-9]*}} of them by a rewritten kernel
// WRONG-DAG: equivalent: blur(const float *, float *, int, Clamp):
// WRONG-DAG: different: blur(const float *, float *, int, Zero): {{[0-9]+}} launches
// WRONG-DAG: equivalent: blur(const int *, int *, int, (anonymous namespace)::Hidden):

struct Clamp {};
struct Zero {};
namespace {
struct Hidden {};
} // namespace
#define BODY(T, EDGE, SUM)                                                     \
  __shared__ T s[258];                                                         \
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;                         \
  s[l] = g < n ? a[g] : T(EDGE);                                               \
  if (l < 2)                                                                   \
    s[l + 256] = g + 256 < n ? a[g + 256] : T(EDGE);                           \
  __syncthreads();                                                             \
  if (g < n)                                                                   \
    b[g] = SUM;

__global__ void blur(const float *a, float *b, int n, Clamp) { BODY(float, a[n - 1], s[l] + s[l + 1] + s[l + 2]) }
__global__ void blur(const float *a, float *b, int n, Zero) { BODY(float, 0, s[l] + s[l + 2]) }
__global__ void blur(const int *a, int *b, int n, Hidden) { BODY(int, 1, s[l] + s[l + 1] + s[l + 2]) }
namespace ns {
template <class T> __global__ void two(const T *a, T *b, int n, int) { BODY(T, 2, s[l] + s[l + 1] + s[l + 2]) }
template <class T> __global__ void two(const T *a, T *b, int n, float) { BODY(T, 3, s[l] + s[l + 1] + s[l + 2]) }
} // namespace ns
__global__ void unnamed(const float *, const float *a, float *b, int, int n, float *) { BODY(float, 0, s[l] + s[l + 1] + s[l + 2]) }

void run(const float *a, float *b, const int *c, int *d, int n) {
  blur<<<(n + 255) / 256, 256>>>(a, b, n, Clamp());
  blur<<<(n + 255) / 256, 256>>>(a, b, n, Zero());
  blur<<<(n + 255) / 256, 256>>>(c, d, n, Hidden());
  ns::two<float><<<(n + 255) / 256, 256>>>(a, b, n, 1);
  ns::two<float><<<(n + 255) / 256, 256>>>(a, b, n, 1.0f);
  unnamed<<<(n + 255) / 256, 256>>>(a, a, b, 0, n, b);
}
