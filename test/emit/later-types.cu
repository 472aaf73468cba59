// Instantiations that name types of behind the template: the launch function, which
// tells them apart, stands in front of the first launch.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
// RUN: %compile -std=c++17 -I%S/Inputs -c %t.cu -o %t.o
//
// CHECK-DAG: rewrote 'pairs<float, Least>'
// CHECK-DAG: rewrote 'pairs<double, Least>'
// SAME: equivalent: 2 launches {{.*}}; 2 by a rewritten kernel
#include "program.h"

template <class T, class F> __global__ void pairs(const T *in, T *out, int n, F f) {
  __shared__ T s[65];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = g < n ? in[g] : T(0);
  if (t == 0)
    s[64] = g + 64 < n ? in[g + 64] : T(0);
  __syncthreads();
  if (g < n)
    out[g] = f(s[t], s[t + 1]);
}

struct Least {
  template <class T> __device__ T operator()(T a, T b) const { return a < b ? a : b; }
};

int main() {
  const int n = 200;
  Buffer<float> a(randoms<float>(n)), b(n);
  Buffer<double> c(randoms<double>(n)), d(n);
  pairs<<<blocks(n, 64), 64>>>(a.Data, b.Data, n, Least());
  b.show("float", n);
  pairs<<<blocks(n, 64), 64>>>(c.Data, d.Data, n, Least());
  d.show("double", n);
}
