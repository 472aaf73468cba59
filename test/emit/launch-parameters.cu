// Parameters: __grid_constant__, function pointers, arrays, braces as arguments;
// extern "C" functions and blocks; an include with a comment of several lines.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck --input-file=%t.remarks %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %compile -std=c++17 -I%S/Inputs -c %t.cu -o %t.o
// CHECK-DAG: rewrote 'grid_constant'
// CHECK-DAG: rewrote 'fnptr'
// CHECK-DAG: rewrote 'arr'
// CHECK-DAG: rewrote 'cfun'
// CHECK-DAG: rewrote 'cblock'
// CHECK-DAG: 'managed' left as it is: a parameter of the kernel cannot be passed on
//
#include <cstdio> /* this comment
   continues here */
#include "sum3.h" // and this one \
   as well
struct P { int n; float f; };
typedef float (*Fn)(float);
__device__ float neg(float x) { return -x; }
__global__ void grid_constant(const float *in, float *out, const __grid_constant__ P p) { const int n = p.n; SUM3(float) if (g < n) out[g] *= p.f; }
__global__ void fnptr(const float *in, float *out, int n, float (*f)(float)) { SUM3(float) if (g < n && f) out[g] += 1; }
__global__ void arr(const float in[], float out[], const int n, const P *const __restrict__ q) { SUM3(float) }
extern "C" __global__ void cfun(const float *in, float *out, int n) { SUM3(float) }
extern "C" { __global__ void cblock(const float *in, float *out, int n) { SUM3(float) } 
int cother() { return 0; } }
struct Managed { int n; Managed(int n) : n(n) {} __host__ __device__ Managed(const Managed &o) : n(o.n) {} };
__global__ void managed(const float *in, float *out, Managed m) { const int n = m.n; SUM3(float) }
int main() {
  const int n = 5000; Buffer<float> a(randoms<float>(n)), b(n);
  grid_constant<<<20, 256>>>(a.Data, b.Data, P{n, 2.f}); b.show("gc");
  grid_constant<<<20, 256>>>(a.Data + 1, b.Data, {n - 1, 3.f}); b.show("gc");
  fnptr<<<20, 256>>>(a.Data, b.Data, n, nullptr); b.show("fn");
  arr<<<20, 256>>>(a.Data + 2, b.Data, n - 2, nullptr); b.show("arr");
  cfun<<<20, 256>>>(a.Data + 3, b.Data, n - 3); b.show("c");
  int i = n - 4; cblock<<<20, 256>>>(a.Data + 4, b.Data, i); cblock<<<20, 256>>>(a.Data + 4, b.Data, i++); b.show("c");
  managed<<<20, 256>>>(a.Data + 5, b.Data, n - 5); b.show("m");
}
