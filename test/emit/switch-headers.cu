// What the header of a switch declares and changes belongs to the switch.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --coarsen=4 -o %t.cu --cuda-path=%cuda -- -std=c++17 \
// RUN:   -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -std=c++17 -I%S/Inputs -DRCACHE_ANY_LAUNCH
#include "program.h"

namespace tools {
__device__ inline int next(int v) { return v + 1; }
} // namespace tools

#define KERNEL(NAME, ...)                                                                \
  __global__ void NAME(const int *__restrict__ a, int *__restrict__ out, int n) {        \
    __shared__ int s[130];                                                               \
    const int t = threadIdx.x, g = blockIdx.x * 128 + t;                                 \
    for (int i = t; i < 130; i += 128) {                                                 \
      const int q = (int)(blockIdx.x * 128) + i - 1;                                     \
      s[i] = q >= 0 && q < n ? a[q] : 0;                                                 \
    }                                                                                    \
    __syncthreads();                                                                     \
    int acc = s[t] - s[t + 2];                                                           \
    __VA_ARGS__                                                                          \
    if (g < n)                                                                           \
      out[g] = acc;                                                                      \
  }

// CHECK-DAG: rewrote 'initialised' ({{.*}}): 4 outputs a thread; 's' {{.*}}registers
KERNEL(initialised, { using tools::next; switch (const int here = next(0); here & 1) { default: if (t > 3) acc += s[t + 1] + here; } })
// CHECK-DAG: rewrote 'condition' ({{.*}}): 4 outputs a thread; 's' {{.*}}registers
KERNEL(condition, switch (const int here = tools::next(t) & 3) { case 1: acc += s[t + 1] + here; break; case 2: acc = here; default: acc += 3; })
// CHECK-DAG: rewrote 'effect' ({{.*}}): 4 outputs a thread; 's' {{.*}}registers
KERNEL(effect, switch (int old = acc++; old & 1) { case 0: acc += old * 3; break; default: acc -= s[t + 1]; })
// CHECK-DAG: rewrote 'statement' ({{.*}}): 4 outputs a thread; 's' {{.*}}registers
KERNEL(statement, switch (acc += 5; acc & 3) { case 0: acc *= 3; break; default: acc -= s[t + 1]; })

int main() {
  for (int n : {1000, 2311, 256}) {
    const Buffer<int> a(randoms<int>(n));
    Buffer<int> b(n);
    initialised<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("initialised", n);
    condition<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("condition", n);
    effect<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("effect", n);
    statement<<<blocks(n, 128), 128>>>(a.Data, b.Data, n), b.show("statement", n);
  }
}
