// Macros with the names of words that the inserted text has, which are none where it goes, or
// of words that it has not: the kernel is rewritten.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-check run %t.cu -- -I%S/Inputs -DRCACHE_VERIFY
// RUN: %compile -std=c++17 -I%S/Inputs -c %t.cu -o %t.o
// RUN: rcache-rewrite %s --force --self-check=off -o %t.v.cu --cuda-path=%cuda -- -I%S/Inputs -DVERIFIED 2>&1 | FileCheck %s
// RUN: rcache-check run %t.v.cu -- -I%S/Inputs -DVERIFIED
// RUN: %if slow %{ %compile -std=c++17 -I%S/Inputs -DVERIFIED -c %t.v.cu -o %t.v.o %}
// CHECK-DAG: rewrote 'smooth'
// CHECK-DAG: rewrote 'clamped'
// CHECK-DAG: a plan of which more was expected is not written [name-changes]: the macro 'max'
#ifdef VERIFIED // also the runtime's text, which stands behind the includes
#define RCACHE_VERIFY
#endif
#define private public
#include "program.h"
#define protected public
#define asm __asm__
#define goto nowhere
#define y 1
#define size_t unsigned
#define return
#undef y
#undef size_t
#undef return
#define size_t size_t // itself
#define if(condition, otherwise) nothing // (never by itself)
#undef if
#define save 1
#undef save

#define block 128 // the kernel's own: they stay what they are
#define value s[t]

struct Limits {
  const int n;
private:
  int Left = 0;
};

__global__ void smooth(const float *in, float *out, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * block + t;
  for (int l = t; l < 130; l += 128) {
    const int e = (int)(blockIdx.x * 128) + l - 1;
    s[l] = e >= 0 && e < n ? in[e] : 0.f;
  }
  __syncthreads();
  if (g < n)
    out[g] = value + s[t + 1] + s[t + 2];
}

#define max 3.f // the kernel's own, and not what a clamp is written with

__global__ void clamped(const float *in, float *out, int n) {
  __shared__ float s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int l = t; l < 130; l += 128) {
    int e = (int)(blockIdx.x * 128) + l - 1;
    e = e < 0 ? 0 : e;
    e = e > n - 1 ? n - 1 : e;
    s[l] = in[e];
  }
  __syncthreads();
  if (g < n)
    out[g] = s[t] + s[t + 1] + s[t + 2] + max;
}

#undef max
#define inline
#define static
#define dim3 int
#define z 5
#define save nothing
#undef dim3

int main() {
  const Limits l = {128 * 5 - 3};
  Buffer<float> in(randoms<float>(l.n)), out(l.n + l.Left);
  smooth<<<5, 128>>>(in.Data, out.Data, l.n);
  out.show("smooth");
  clamped<<<5, 128>>>(in.Data, out.Data, l.n);
  out.show("clamped");
}

#define x 1
#define y 1
