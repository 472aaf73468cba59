// Numbers that templates of functions have keep their parameter's type where the body is
// written out: an unsigned length divides and compares as such, a short chooses its overload.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'divided'
// CHECK-DAG: rewrote 'chosen'
// CHECK-DAG: rewrote 'compared'
// CHECK-DAG: rewrote 'deduced'
// CHECK-DAG: rewrote 'ownWord<64>'
// CHECK-DAG: rewrote 'wrapped'
// TEXT: divided_rc(
// TEXT: / 4u
// TEXT: ownWord_rc(
// TEXT: d = Threads / 2
// SAME: equivalent: 7 launches {{.*}}; 7 by a rewritten kernel
#include "program.h"
#define B 64
template <unsigned N> struct Part {
  static __device__ void of(int *s, int t) {
    int v = s[t ^ 1] + (t - 5) / N;
    __syncthreads();
    s[t] = v;
    __syncthreads();
  }
  static __device__ int at(const int *s, int j) { return s[j % N]; }
};
__device__ int kind(int) { return 1; }
__device__ int kind(short) { return 2; }
__device__ int kind(unsigned char) { return 3; }
template <short N, unsigned char M> struct Kinds {
  static __device__ void of(int *s, int t) {
    int v = s[t ^ 1] + 10 * kind(N) + kind(M);
    __syncthreads();
    s[t] = v;
    __syncthreads();
  }
};
template <unsigned N> __device__ void lift(int *s, int t) {
  int v = s[t ^ 1];
  __syncthreads();
  if (v - 100 < N)
    s[t] = v;
  __syncthreads();
}
template <class T, size_t N> __device__ T spread(T (&s)[N], int t) {
  T v = s[t ^ 2];
  __syncthreads();
  s[t] = v + T((v - 1000) / N % 7);
  __syncthreads();
  return s[0];
}
template <unsigned N> __device__ int sum(int *s, unsigned t) {
  for (unsigned d = N / 2; d > 0; d /= 2) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  return s[0];
}
#define BEGIN \
  __shared__ int s[B]; \
  int t = threadIdx.x, i = blockIdx.x * B + t; \
  s[t] = a[i]; \
  __syncthreads();
__global__ void divided(const int *a, int *o) {
  BEGIN
  Part<4>::of(s, t);
  o[i] = s[t];
}
__global__ void chosen(const int *a, int *o) {
  BEGIN
  Kinds<7, 9>::of(s, t);
  o[i] = s[t];
}
__global__ void compared(const int *a, int *o) {
  BEGIN
  lift<9>(s, t);
  o[i] = s[t];
}
__global__ void deduced(const int *a, int *o) {
  BEGIN
  int first = spread(s, t);
  o[i] = s[t] - first;
}
template <unsigned Threads> __global__ void ownWord(const int *a, int *o) {
  __shared__ int s[Threads];
  unsigned t = threadIdx.x, i = blockIdx.x * Threads + t;
  s[t] = a[i];
  __syncthreads();
  int all = sum<Threads>(s, t);
  o[i] = all;
}
__global__ void wrapped(const int *a, int *o) {
  BEGIN
  o[i] = Part<B>::at(s, t - 3) - Part<B>::at(s, t + 3);
}
int main() {
  const int n = 1024;
  Buffer<int> in(randoms<int>(n)), out(n);
#define RUN(K, T) K<<<n / T, T>>>(in.Data, out.Data), out.show(#K)
  RUN(divided, B);
  RUN(chosen, B);
  RUN(compared, B);
  RUN(deduced, B);
  RUN(ownWord<64>, 64);
  RUN(ownWord<128>, 128);
  RUN(wrapped, B);
}
