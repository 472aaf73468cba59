// Macros of the user's with names of CUDA's, the library's and attributes: where the
// runtime's text stands they are none (push_macro), and the names that a new text
// invents hide nothing that a macro stands for.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ rcache-check run %t.cu -- -I%S/Inputs -DRCACHE_VERIFY %}
// RUN: %compile -std=c++17 -I%S/Inputs -c %t.cu -o %t.o
// RUN: %if slow %{ %compile -std=c++17 -I%S/Inputs -DRCACHE_VERIFY -c %t.cu -o %t.v.o %}
// RUN: rcache-rewrite %s --force -o %t.d.cu --cuda-path=%cuda -- -I%S/Inputs -DTAKES_BUILTIN 2>&1 | FileCheck --check-prefix=BUILTIN %s
// RUN: FileCheck --check-prefix=WITHOUT %s < %t.d.cu
// RUN: rcache-check diff %s %t.d.cu -- -I%S/Inputs -DTAKES_BUILTIN
// RUN: %if slow %{ %compile -std=c++17 -I%S/Inputs -DTAKES_BUILTIN -c %t.d.cu -o %t.d.o %}
// RUN: rcache-rewrite %s --force -o %t.r.cu --cuda-path=%cuda -- -I%S/Inputs -DTAKES_RETURN 2>&1 | FileCheck --check-prefix=RETURN %s
//
// CHECK-DAG: rewrote 'smooth'
// CHECK-DAG: rewrote 'scan'
// TEXT-NOT: {{^}}#pragma push_macro("__forceinline__")
// TEXT: {{^}}#pragma push_macro("maxThreadsPerBlock")
// TEXT: {{^}}#undef maxThreadsPerBlock
// TEXT: {{^}}#pragma pop_macro("maxThreadsPerBlock")
// RETURN-DAG: 'smooth' left as it is: {{.*}}the macro 'return'
// RETURN-DAG: 'scan' left as it is: {{.*}}the macro 'return'
// BUILTIN-DAG: rewrote 'smooth'
// BUILTIN-DAG: a plan of which more was expected is not written [name-changes]: the macro 'blockDim'
// WITHOUT: {{^}}static __global__ void smooth_rc(
// WITHOUT-NOT: blockDim
// WITHOUT: {{^}}static inline void smooth_rc_launch(
#include "program.h"

#undef __forceinline__
#define __forceinline__ inline // the toolkit's, said anew: the runtime's text needs it
#define maxThreadsPerBlock 256
#define memcpy(a, b, c) nothing
#define size_t unsigned long
#define size 512
#define device 0
#define pragma 3
#define __shfl_sync(m, v, l) (v)
#ifdef TAKES_RETURN
#define return
#endif
#ifdef TAKES_BUILTIN
#define blockDim nobody
#endif

__global__ void smooth(const float *in, float *out, int n) {
  __shared__ float s[130];
  const int g = blockIdx.x * 128 + threadIdx.x;
  for (int i = threadIdx.x; i < 130; i += 128) {
    const int at = blockIdx.x * 128 + i - 1;
    s[i] = at >= 0 && at < n ? in[at] : 0.0f;
  }
  __syncthreads();
  if (g < n)
    out[g] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}

namespace outer {
#undef device
__device__ int side = 2, in_turn = 3;
#define device 0
} // namespace outer
using namespace outer;
#define OFFSET side
#define PASTED in##_turn

__global__ void scan(const int *in, int *out) {
  __shared__ int a[64], b[64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  int *p = a, *q = b;
  p[t] = in[g];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    q[t] = t >= d ? p[t] + p[t - d] : p[t];
    __syncthreads();
    int *x = p;
    p = q;
    q = x;
  }
  out[g] = p[t] + OFFSET * PASTED;
}

#undef return

int main() {
  const int n = 128 * 5 - 3;
  Buffer<float> in(randoms<float>(n)), out(n);
  Buffer<int> to(512), from(randoms<int>(512));
  smooth<<<5, 128>>>(in.Data, out.Data, n);
  out.show("smooth");
  scan<<<8, 64>>>(from.Data, to.Data);
  to.show("scan");
}
