// One text of a launch: several instantiations, a specialisation among them;
// overloads (left alone); types of an anonymous namespace; default arguments of
// an earlier declaration; kernels as template arguments and through pointers.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck --input-file=%t.remarks %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %compile -std=c++17 -I%S/Inputs -c %t.cu -o %t.o
// CHECK-DAG: rewrote 'k<1>' (1 launch)
// CHECK-DAG: rewrote 'k<3>' (1 launch)
// CHECK-DAG: rewrote 'o' (1 launch, 2 left as written)
// CHECK-DAG: rewrote 'an<Pix>' {{.*}}'s' kept shared
// CHECK-DAG: rewrote 'dflt<double, 3>'
//
#include "sum3.h"
template <int R> __global__ void k(const float *in, float *out, int n) { SUM3(float) }
template <> __global__ void k<2>(const float *in, float *out, int n) {
  __shared__ float s[256]; const int g = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = g < n ? in[g] : 0; __syncthreads(); if (g < n) out[g] = -s[threadIdx.x]; }
template <int R> void go(const float *a, float *b, int n) { k<R><<<20, 256>>>(a, b, n); }
__global__ void o(const float *in, float *out, int n) { SUM3(float) }
__global__ void o(const double *in, double *out, int n) { SUM3(double) }
__global__ void o(const int *in, int *out, int n) { const int g = blockIdx.x * 256 + threadIdx.x; if (g < n) out[g] = in[g]; }
template <typename T> void over(const T *a, T *b, int n) { o<<<20, 256>>>(a, b, n); }
namespace { struct Pix { float v; Pix() = default; __host__ __device__ Pix(float x) : v(x) {} __device__ Pix operator+(Pix o) const { return v + o.v; } __device__ Pix operator*(Pix o) const { return __fmul_rn(v, o.v); } }; }
template <typename T> __global__ void an(const T *in, T *out, int n) { SUM3(T) }
template <typename F> __global__ void fun(const float *in, float *out, int n, F f) { 
  __shared__ float s[257]; const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0; if (t == 255) s[256] = g + 1 < n ? in[g + 1] : 0; __syncthreads(); if (g < n) out[g] = f(s[t]) + s[t + 1]; }
struct Twice { __device__ float operator()(float x) const { return 2 * x; } };
template <typename T, int R = 3> __global__ void dflt(const T *in, T *out, int n);
template <typename T, int R> __global__ void dflt(const T *in, T *out, int n) { SUM3(T) }
template <void (*K)(const float *, float *, int)> void viaPointer(const float *a, float *b, int n) { K<<<20, 256>>>(a, b, n); }
template <typename K> void viaArg(K kern, const float *a, float *b, int n) { kern<<<20, 256>>>(a, b, n); }
int main() {
  const int n = 5000; Buffer<float> a(randoms<float>(n)), b(n); Buffer<double> c(randoms<double>(n)), d(n); Buffer<int> e(randoms<int>(n)), f(n);
  Buffer<Pix> p(std::vector<Pix>(n, Pix(3))), q(n);
  go<1>(a.Data, b.Data, n); b.show("1"); go<2>(a.Data, b.Data, n); b.show("2"); go<3>(a.Data, b.Data, n); b.show("3");
  over(a.Data, b.Data, n); over(c.Data, d.Data, n); over(e.Data, f.Data, n); b.show("of"); d.show("od"); f.show("oi");
  o<<<20, 256>>>(a.Data + 1, b.Data, n - 1); o<<<20, 256>>>(c.Data + 1, d.Data, n - 1); b.show("of"); d.show("od");
  an<<<20, 256>>>(p.Data, q.Data, n); q.show("pix"); an<<<20, 256>>>(a.Data, b.Data, n - 7); b.show("an");
  fun<<<20, 256>>>(a.Data, b.Data, n, Twice()); b.show("twice");
  dflt<float><<<20, 256>>>(a.Data + 2, b.Data, n - 2); b.show("dflt"); dflt<double><<<20, 256>>>(c.Data + 2, d.Data, n - 2); d.show("dflt");
  viaPointer<o>(a.Data + 4, b.Data, n - 4); b.show("ptr"); viaPointer<k<5>>(a.Data + 5, b.Data, n - 5); b.show("ptr");
  viaArg(k<6>, a.Data + 6, b.Data, n - 6); b.show("arg");
  auto kk = &k<7>; kk<<<20, 256>>>(a.Data + 7, b.Data, n - 7); b.show("arg");
}
