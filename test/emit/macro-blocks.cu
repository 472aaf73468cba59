// Macros that stage and wait, wrapped in `do { ... } while (0)`.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'difference' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'waits' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'left' {{.*}}'s' kept shared{{.*}}original: 2.00 loads
// SAME: equivalent: {{.*}}; {{[1-9]}}{{.*}} by a rewritten kernel
#include "program.h"

#define LOAD(to, from, at, n)                                                  \
  do {                                                                         \
    to[threadIdx.x] = (at) < (n) ? (from)[at] : 0;                             \
    if (threadIdx.x == 0)                                                      \
      to[128] = (at) + 128 < (n) ? (from)[(at) + 128] : 0;                     \
  } while (0)

__global__ void difference(const int *in, int *out, int n) {
  __shared__ int s[129];
  int g = blockIdx.x * 128 + threadIdx.x;
  LOAD(s, in, g, n);
  __syncthreads();
  if (g < n)
    out[g] = s[threadIdx.x] - s[threadIdx.x + 1];
}

#define LOAD_AND_WAIT(to, from, at, n)                                         \
  do {                                                                         \
    LOAD(to, from, at, n);                                                     \
    __syncthreads();                                                           \
  } while (false)

__global__ void waits(const float *in, float *out, int n) {
  __shared__ float s[129];
  int g = blockIdx.x * 128 + threadIdx.x;
  LOAD_AND_WAIT(s, in, g, n);
  do
    if (g < n)
      out[g] = s[threadIdx.x] * s[threadIdx.x + 1];
  while (0);
}

// What leaves it early is no block.
__global__ void left(const int *in, int *out, int n) {
  __shared__ int s[129];
  int g = blockIdx.x * 128 + threadIdx.x;
  do {
    s[threadIdx.x] = g < n ? in[g] : 0;
    if (threadIdx.x != 0)
      break;
    s[128] = g + 128 < n ? in[g + 128] : 0;
  } while (0);
  __syncthreads();
  if (g < n)
    out[g] = s[threadIdx.x] + 3 * s[threadIdx.x + 1];
}

int main() {
  for (int n : {1000, 128, 77}) {
    Buffer<int> in(randoms<int>(n)), out(n);
    Buffer<float> real(randoms<float>(n)), to(n);
    difference<<<blocks(n, 128), 128>>>(in.Data, out.Data, n);
    out.show("difference", n);
    waits<<<blocks(n, 128), 128>>>(real.Data, to.Data, n);
    to.show("waits", n);
    left<<<blocks(n, 128), 128>>>(in.Data, out.Data, n);
    out.show("left", n);
  }
}
