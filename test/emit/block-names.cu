// Names that mean something in one block alone: what is staged there is evaluated where it
// stands, or means the same elsewhere.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH
//
// CHECK-DAG: rewrote 'outermost' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'variable' {{.*}}'s' reloaded
#include "program.h"

namespace twice {
__device__ float f(float x) { return x + x; }
__device__ float only(float x) { return x + 3; }
} // namespace twice
namespace thrice {
__device__ float f(float x) { return x + x + x; }
}
__device__ float f(float x) { return x + 1; }
namespace now = thrice;
struct Less {
  static __device__ float of(float x) { return x - 7; }
};
struct More {
  static __device__ float of(float x) { return x + 9; }
};
using How = Less;

#define KERNEL(NAME, OUTER, INNER, F)                                                    \
  __global__ void NAME(const float *a, float *o, int n) {                                \
    __shared__ float s[128 + 2];                                                         \
    const int t = threadIdx.x, g = blockIdx.x * 128 + t;                                 \
    OUTER {                                                                              \
      INNER if (g < n + 2) s[t] = F(a[g]);                                               \
      if (t < 2 && g + 128 < n + 2)                                                      \
        s[t + 128] = F(a[g + 128]);                                                      \
    }                                                                                    \
    __syncthreads();                                                                     \
    if (g < n)                                                                           \
      o[g] = s[t] - s[t + 1] + s[t + 2];                                                 \
  }
KERNEL(usingName, , using twice::f;, f)
KERNEL(usingOnly, , using twice::only;, only)
KERNEL(usingSpace, , using namespace twice;, only)
KERNEL(otherSpace, , namespace now = twice;, now::f)
KERNEL(alias, , using How = More;, How::of)
KERNEL(local, , struct How { static __device__ float of(float x) { return x - 2; } };, How::of)
KERNEL(declared, , __device__ float f(float);, f)
KERNEL(cast, , typedef short Short;, (Short))
KERNEL(outermost, using twice::f;, , f)
KERNEL(variable, , float more = 2;, more +)

int main() {
  const int n = 3000;
  Buffer<float> A(randoms<float>(n + 9)), B(n);
#define RUN(NAME)                                                                        \
  NAME<<<blocks(n, 128), 128>>>(A.Data, B.Data, n);                                      \
  B.show(#NAME);
  RUN(usingName)
  RUN(usingOnly)
  RUN(usingSpace)
  RUN(otherSpace)
  RUN(alias)
  RUN(local)
  RUN(declared)
  RUN(cast)
  RUN(outermost)
  RUN(variable)
  return cudaDeviceSynchronize();
}
