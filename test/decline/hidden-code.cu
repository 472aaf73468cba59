// Code that no text of the kernel shows: default arguments, members' initialisers, constructors
// of bases, destructors, overriders, functors that the standard library calls.
//
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -o %t.cu -q --list --force --self-check=off --cuda-path=%cuda -- -std=c++17 --expt-relaxed-constexpr | FileCheck %s
#include <algorithm>
#include <utility>

__device__ int byDefault(int b = blockIdx.x / 300) { return b; }
__device__ int inner(int b = blockIdx.x / 300) { return b; }
__device__ int throughAnother() { return inner(); }
struct Member { int v = blockIdx.x / 300; };
struct Listed { int v; __device__ Listed(int a) : v(a + blockIdx.x / 300) {} };
struct Based : Listed { __device__ Based() : Listed(1) {} };
struct Inherits : Listed { using Listed::Listed; };
struct Aggregate { int a, b = blockIdx.x / 300; };
struct Virtual { __device__ virtual int f() const { return 0; } };
struct Overrides : Virtual { __device__ int f() const override { return blockIdx.x / 300; } };
struct Ends { int *p; __device__ ~Ends() { *p = blockIdx.x / 300; } };
__device__ int ended() { int v = 0; { Ends e{&v}; } return v; }
struct Less { __device__ bool operator()(int a, int b) const { return a + int(blockIdx.x / 300) < b; } };
struct Range {
  int v[2];
  __device__ const int *begin() const { return v + blockIdx.x / 300; }
  __device__ const int *end() const { return v + 2; }
};
__device__ int summed(Range r) { int x = 0; for (int v : r) x += v; return x; }
__device__ int inLambda(int x) { auto l = [](int y) { return y + int(blockIdx.x / 300); }; return l(x); }
struct Reads { int v; __device__ Reads(const int *p, int i) : v(p[i]) {} };
__device__ const int *elsewhere;
struct ReadsByDefault { int v = elsewhere[7]; };
struct Kept { int v = 0; __device__ Kept(int x = 0) : v(x) {}
              __device__ Kept &operator=(const Kept &o) { v += o.v + 1000; return *this; } };
struct Big { int a[8187]; };
struct Plain { int v = 3; __device__ Plain(int a) : v(a) {} };
__device__ int plain(int a, int b = 3) { return Plain(a).v + b; }

#define KERNEL(NAME, ...)                                                                \
  __global__ void NAME(const int *in, int *out, int n) {                                 \
    __shared__ int s[65];                                                                \
    int t = threadIdx.x, g = blockIdx.x * 64 + t;                                        \
    s[t] = g < n ? in[g] : 0;                                                            \
    if (t == 0)                                                                          \
      s[64] = g + 64 < n ? in[g + 64] : 0;                                               \
    __syncthreads();                                                                     \
    if (g < n)                                                                           \
      out[g] = s[t] + s[t + 1] + (__VA_ARGS__) * 1000;                                   \
  }
KERNEL(k1, byDefault())
KERNEL(k2, throughAnother())
KERNEL(k4, Member().v)
KERNEL(k5, Listed(t).v)
KERNEL(k6, Based().v)
KERNEL(k7, Inherits(3).v)
KERNEL(k8, Aggregate{3}.b)
KERNEL(k9, static_cast<const Virtual &>(Overrides()).f())
KERNEL(k10, ended())
KERNEL(k11, std::max(s[t], 5, Less{}))
KERNEL(k12, std::pair<int, Member>().second.v)
KERNEL(k13, summed(Range{{1, 2}}))
KERNEL(k14, inLambda(3))
KERNEL(k15, plain(t))
KERNEL(k16, Reads(in, t).v)
KERNEL(k17, ReadsByDefault().v)
__global__ void k18(const int *in, int *out, int n) { // assigned where it had been made
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = g < n ? in[g] : 0;
  __syncthreads();
  Kept q(s[t]);
  __syncthreads();
  if (g < n)
    out[g] = s[63 - t] + q.v;
}
__global__ void k19(const int *in, int *out, Big b) { // no room for a parameter more
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  __syncthreads();
  out[g] = s[63 - t] + b.a[3];
}

void large(const int *a, int *o, int n, Big b) { k19<<<n, 64>>>(a, o, b); }
void launch(const int *a, int *o, int n) {
#define LAUNCH(K) K<<<(n + 63) / 64, 64>>>(a, o, n)
  LAUNCH(k1); LAUNCH(k2); LAUNCH(k4); LAUNCH(k5); LAUNCH(k6); LAUNCH(k7); LAUNCH(k8);
  LAUNCH(k9); LAUNCH(k10); LAUNCH(k11); LAUNCH(k12); LAUNCH(k13); LAUNCH(k14); LAUNCH(k15); LAUNCH(k16);
  LAUNCH(k17); LAUNCH(k18);
}
// CHECK: declined k1; call-uses-thread (a default argument reads
// CHECK: declined k2; call-uses-thread
// CHECK: declined k4; call-uses-thread
// CHECK: declined k5; call-uses-thread
// CHECK: declined k6; call-uses-thread
// CHECK: declined k7; call-uses-thread
// CHECK: declined k8; call-uses-thread
// CHECK: declined k9; unknown-call
// CHECK: declined k10; unsupported-statement (an object with a destructor)
// CHECK: declined k11; call-uses-thread
// CHECK: declined k12; call-uses-thread
// CHECK: declined k13; call-uses-thread
// CHECK: declined k14; call-uses-thread
// CHECK: rewritten k15
// CHECK: declined k16; unsupported-statement ('Reads' reads or changes memory where it initialises members)
// CHECK: declined k17; unsupported-statement ({{.*}} reads or changes memory where it initialises members)
// CHECK: declined k18; unsupported-statement ('q' would have to be declared in other words)
// CHECK: declined k19; parameter-form ('b' leaves no room for parameters of the rewritten kernel)
