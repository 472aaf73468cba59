// Arrays that are staged and never read: the writes go, whatever they are made of and
// wherever that lies; effects of theirs stay.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'loaded' {{.*}}'u' never read: gone
// CHECK-DAG: rewrote 'beside' {{.*}}'u' never read: gone
// CHECK-DAG: rewrote 'numbers' {{.*}}'u' never read: gone
// CHECK-DAG: rewrote 'later' {{.*}}'u' never read: gone
#include "program.h"

constexpr int B = 128;
#define KERNEL(name, first, last)                                              \
  __global__ void name(const float *in, float *out, int n) {                   \
    __shared__ float s[B], u[B];                                               \
    const int t = threadIdx.x, g = blockIdx.x * B + t;                         \
    s[t] = g < n ? in[g] : 0.f;                                                \
    first __syncthreads();                                                     \
    float x = s[t] + s[(t + 1) % B];                                           \
    last if (g < n) out[g] = x;                                                \
  }
KERNEL(loaded, u[t] = g < n ? in[g] * 2.f : 1.f;, )
KERNEL(beside, if (g < n) u[t] = in[g / 2];, )
KERNEL(numbers, u[t] = 2.f;, )
KERNEL(later, , u[B - 1 - t] = g < n ? in[g] + 1.f : 0.f;)

int main() {
  for (int n : {1000, 128, 77}) {
    Buffer<float> In(randoms<float>(n)), Out(n);
    const int g = blocks(n, B);
#define RUN(name)                                                              \
  name<<<g, B>>>(In.Data, Out.Data, n);                                        \
  Out.show(#name, n, 1);
    RUN(loaded) RUN(beside) RUN(numbers) RUN(later)
  }
}
