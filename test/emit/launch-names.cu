// Names: parameters called as generated ones are, kernels defined as ns::k, found
// through using-declarations and aliases, hidden by a parameter; a namespace
// rcache of the user; a macro with the name that a new kernel would have.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck --input-file=%t.remarks %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %compile -std=c++17 -I%S/Inputs -c %t.cu -o %t.o
// CHECK-DAG: rewrote 'blur'
// CHECK-DAG: rewrote 'a::b::k'
// CHECK-DAG: rewrote 'a::inA'
// CHECK-DAG: rewrote '(anonymous namespace)::anon'
// CHECK-DAG: rewrote 'rcache::own'
//
#include "sum3.h"
__global__ void blur(const float *in, float *out, int n, float *blur, int rc_merged, int rc_grid, int rc_block, int rc_shared, int rc_stream, int rc_threads, int rc_s) {
  SUM3(float)
  if (g < n) blur[g] = rc_merged + rc_grid + rc_block + rc_shared + rc_stream + rc_threads + rc_s;
}
namespace a { namespace b { __global__ void k(const float *in, float *out, int n); } 
namespace rcache { int device; } 
__global__ void inA(const float *in, float *out, int n) { SUM3(float) }
}
__global__ void a::b::k(const float *in, float *out, int n) { SUM3(float) }
namespace { __global__ void anon(const float *in, float *out, int n) { SUM3(float) } }
namespace x { using a::b::k; }
namespace rcache { __global__ void own(const float *in, float *out, int n) { SUM3(float) } }
struct k_rc {}; int k_rc_launch = 3; 
#define inA_rc nothing at all
int main() {
  const int n = 5000; Buffer<float> i(randoms<float>(n)), o(n), p(n);
  blur<<<20, 256>>>(i.Data, o.Data, n, p.Data, 1, 2, 3, 4, 5, 6, 7); o.show("o"); p.show("p");
  a::b::k<<<20, 256>>>(i.Data, o.Data + 1, n - 1); o.show("o");
  { using a::b::k; k<<<20, 256>>>(i.Data + 2, o.Data, n - 2); o.show("o"); }
  x::k<<<20, 256>>>(i.Data + 3, o.Data, n - 3); o.show("o");
  { namespace z = a::b; z::k<<<20, 256>>>(i.Data + 4, o.Data, n - 4); o.show("o"); }
  a::inA<<<20, 256>>>(i.Data + 5, o.Data, n - 5); o.show("o");
  anon<<<20, 256>>>(i.Data + 6, o.Data, n - 6); o.show("o");
  ::anon<<<20, 256>>>(i.Data + 7, o.Data, n - 7); o.show("o");
  (a::inA)<<<20, 256>>>(i.Data + 8, o.Data, n - 8); o.show("o");
  rcache::own<<<20, 256>>>(i.Data + 8, o.Data, n - 8); o.show("o");
  return k_rc_launch - 3;
}
