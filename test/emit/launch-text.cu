// Launches in which macros stand for several arguments, for the kernel, for all of
// the parentheses; a header with macros called like what rewritten files need.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck --input-file=%t.remarks %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %compile -std=c++17 -I%S/Inputs -c %t.cu -o %t.o
// RUN: %if slow %{ rcache-rewrite %s -q --force --runtime=include -o %t.i.cu --cuda-path=%cuda -- -I%S/Inputs %}
// RUN: %if slow %{ %compile -std=c++17 -I%S/Inputs -I%src/include -c %t.i.cu -o %t.i.o %}
// CHECK-DAG: rewrote 'k'
// CHECK-DAG: rewrote 'k2'
// CHECK-DAG: rewrote 'kt<float, 3>'
//
#include "sum3.h"
#include "macros-of-others.h"
__global__ void k(const float *in, float *out, int n) { SUM3(float) }
__global__ void k2(const float *__restrict__ in, float *__restrict__ out, int n, int f) { SUM3(float) }
template <typename T, int R> __global__ void kt(const T *in, T *out, int n) { SUM3(T) }
#define CFG 20, 256
#define CFG3 CFG, 0
#define ARGS a.Data, b.Data, n
#define ALL (ARGS)
#define NONE
#define TARGS float, 3
#define KERNEL k
#define CALL(x) do { x; cudaError_t e = cudaGetLastError(); if (e) std::printf("%d\n", (int)e); } while (0)
#define TWO(p, q) p, q
int main() {
  const int n = 5000; Buffer<float> a(randoms<float>(n)), b(n);
  k<<<CFG>>>(ARGS); b.show("1");
  k<<<CFG3>>>(a.Data + 1, ARGS_TAIL); b.show("2");
  k<<<CFG>>>ALL; b.show("3");
  KERNEL<<<CFG, 0, 0>>>(a.Data + 2, b.Data, n - 2 NONE); b.show("4");
  kt<TARGS><<<CFG>>>(ARGS); b.show("5");
  CALL((k<<<CFG>>>(a.Data + 3, b.Data, n - 3))); b.show("6");
  CALL((kt<float, 3><<<CFG, 0>>>(a.Data + 4, b.Data, n - 4))); b.show("7");
  k2<<< // grid
      20, // block
      256 // end
      >>>(a.Data, // in
          b.Data, n, 7 // last
      ); b.show("8");
  TWO(k<<<20, 256>>>(a.Data + 5, b.Data, n - 5)); b.show("9");
}
