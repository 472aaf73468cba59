// Which function is called, or what a template makes of an argument, may hang on whether that
// is const: what is written anew need not be. Default arguments mean what they meant where
// they were written. `sizeof(threadIdx.x)` keeps its parentheses.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: 'parameter' left as it is: {{.*}}[private-use]
// CHECK-DAG: 'member' left as it is: {{.*}}[private-use]
// CHECK-DAG: 'deduced' left as it is: {{.*}}[array-to-function]
// CHECK-DAG: 'reference' left as it is: {{.*}}(which 'which' is called hangs on whether an argument is const)
// CHECK-DAG: 'pointer' left as it is: {{.*}}(which 'which' is called hangs on whether an argument is const)
// CHECK-DAG: 'hidden_default' left as it is: {{.*}}[private-use]
// CHECK-DAG: rewrote 'plain_default' {{.*}}'a' of each thread
// CHECK-DAG: rewrote 'alike' {{.*}}'s'
// CHECK-DAG: rewrote 'sizes' {{.*}}'s'
#include "program.h"

__device__ int which(int &x) { return 1000 + x; }
__device__ int which(const int &x) { return x * 3; }
template <typename T> struct IsConst { static const int Value = 3; };
template <typename T> struct IsConst<const T> { static const int Value = 1000; };
template <typename T> __device__ int made_of(T &x) { return IsConst<T>::Value + x; }
struct Pair {
  int X, Y;
  __device__ int sum() { return X + Y; }
  __device__ int sum() const { return X - Y; }
};

__device__ int by_value(int *a, const int i) {
  a[i & 15] += which(i);
  return which(i);
}
__global__ void parameter(const int *in, int *out) {
  const int t = blockIdx.x * 64 + threadIdx.x;
  int a[16];
  for (int q = 0; q < 16; ++q)
    a[q] = in[t + q] & 255;
  int i = in[t] & 255;
  const int r = by_value(a, i);
  out[t] = r + a[(i + 1) & 15];
}

__device__ int by_struct(int *a, const Pair &p) {
  a[p.X & 15] += p.sum();
  return p.Y;
}
__global__ void member(const int *in, int *out) {
  const int t = blockIdx.x * 64 + threadIdx.x;
  int a[16];
  for (int q = 0; q < 16; ++q)
    a[q] = in[t + q] & 255;
  Pair p{in[t] & 255, in[t + 1] & 255};
  const int r = by_struct(a, p);
  out[t] = r + a[p.X & 15];
}

__device__ int of_two(const int *s, int l) { return made_of(s[l]) + made_of(s[l + 1]); }
__global__ void deduced(const int *__restrict__ in, int *__restrict__ out) {
  __shared__ int s[65];
  const int l = threadIdx.x, t = blockIdx.x * 64 + l;
  s[l] = in[t];
  if (l == 0)
    s[64] = in[t + 64];
  __syncthreads();
  out[t] = of_two(s, l);
}

__global__ void reference(const int *__restrict__ in, int *__restrict__ out) {
  __shared__ int s[65];
  const int l = threadIdx.x, t = blockIdx.x * 64 + l;
  s[l] = in[t];
  if (l == 0)
    s[64] = in[t + 64];
  __syncthreads();
  const int &x = s[l + 1];
  out[t] = which(x);
}
__global__ void pointer(const int *__restrict__ in, int *__restrict__ out) {
  __shared__ int s[65];
  const int l = threadIdx.x, t = blockIdx.x * 64 + l;
  s[l] = in[t];
  if (l == 0)
    s[64] = in[t + 64];
  __syncthreads();
  const int *p = s + l;
  out[t] = which(p[0]) + which(p[1]);
}

__device__ int offset = 5;
__device__ int hidden(int *a, int i, int k = offset + 2) {
  a[i & 15] += k;
  return a[(i + k) & 15];
}
__global__ void hidden_default(const int *in, int *out) {
  const int t = blockIdx.x * 64 + threadIdx.x;
  int a[16];
  for (int q = 0; q < 16; ++q)
    a[q] = in[t + q] & 255;
  const int offset = in[t] & 255;
  const int r = hidden(a, offset);
  out[t] = r + a[offset & 15];
}
__global__ void plain_default(const int *in, int *out) {
  const int t = blockIdx.x * 64 + threadIdx.x;
  int a[16];
  for (int q = 0; q < 16; ++q)
    a[q] = in[t + q] & 255;
  const int i = in[t] & 255;
  const int r = hidden(a, i);
  out[t] = r + a[i & 15];
}

// Nothing hangs on it: each takes a const reference.
__device__ int larger(const int &x, const int &y) { return x < y ? y : x; }
__device__ float larger(const float &x, const float &y) { return x < y ? y : x; }
__global__ void alike(const int *__restrict__ in, int *__restrict__ out) {
  __shared__ int s[65];
  const int l = threadIdx.x, t = blockIdx.x * 64 + l;
  s[l] = in[t];
  if (l == 0)
    s[64] = in[t + 64];
  __syncthreads();
  const int &x = s[l + 1];
  out[t] = larger(x, s[l]) - larger(in[t], 3);
}

#define TX (threadIdx.x)
__global__ void sizes(const int *__restrict__ in, int *__restrict__ out) {
  __shared__ int s[65];
  const int l = TX, t = blockIdx.x * 64 + l;
  s[l] = in[t];
  if (TX == 0)
    s[64] = in[t + 64];
  __syncthreads();
  out[t] = s[l] + s[l + 1] + sizeof(threadIdx.x) * sizeof TX;
}

int main() {
  Buffer<int> in(randoms<int>(64 * 4 + 64)), out(size_t(64 * 4));
#define RUN(k)                                                                                    \
  k<<<4, 64>>>(in.Data, out.Data);                                                                \
  out.show(#k)
  RUN(parameter);
  RUN(member);
  RUN(deduced);
  RUN(reference);
  RUN(pointer);
  RUN(hidden_default);
  RUN(plain_default);
  RUN(alike);
  RUN(sizes);
}
