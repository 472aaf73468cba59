// Smallest forms of what random programs found: operators that change what they
// are given, types without a name, braces around scalars, a variable in a
// condition, and a kernel template beside a kernel of the same name.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs -std=c++20 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -std=c++20
// RUN: %if slow %{ %nvcc -std=c++20 -w -I%S/Inputs -ptx %t.cu -o %t.ptx %}
//
// CHECK-DAG: 'shifts'
// CHECK-DAG: 'member_operator'
// CHECK-DAG: 'unnamed_struct'
// CHECK-DAG: rewrote 'unnamed_enum'
// CHECK-DAG: rewrote 'braces'
// CHECK-DAG: rewrote 'condition'
// CHECK-DAG: rewrote 'same_name<float>'
// CHECK-DAG: rewrote 'same_name'
// CHECK-DAG: 'view_object' left as it is: {{.*}}[escaping-array]
// CHECK-DAG: 'view_of_moment' left as it is: {{.*}}[escaping-array]
// CHECK-DAG: 'view_of_pointer' left as it is: {{.*}}[escaping-array]
#include "program.h"

// The reference changes, so what is computed from it afterwards stays behind it.
struct Log {
  int v;
  __device__ int operator[](int i) { return v += i; }
};
__device__ int operator<<(Log &l, int r) { return l.v = r; }
__global__ void shifts(const float *__restrict__ a, float *__restrict__ out,
                       int *__restrict__ aux, int n) {
  __shared__ float s[32];
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  Log log = {4};
  s[t] = i < n ? a[i] : 0;
  __syncthreads();
  if (!(i < n && t >= 1 && t + 1 < 32))
    return;
  float r = s[t - 1] + s[t + 1];
  out[(log << i)] = r;
  unsigned trace = 0;
  trace = trace * 31 + (unsigned)(log.v);
  aux[i] = trace;
}
__global__ void member_operator(const float *__restrict__ a,
                                float *__restrict__ out, int *__restrict__ aux,
                                int n) {
  __shared__ float s[32];
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  Log log = {0};
  s[t] = i < n ? a[i] : 0;
  __syncthreads();
  if (i < n) {
    out[log[i]] = s[31 - t];
    aux[i] = log.v * 3;
  }
}

__global__ void unnamed_struct(const float *__restrict__ a,
                               float *__restrict__ out, int *__restrict__,
                               int n) {
  __shared__ float s[128];
  int t = threadIdx.x;
  struct {
    int v;
    int w = 4;
  } g{int(blockIdx.x * 128 + t)};
  if (g.v < n)
    s[t] = a[g.v];
  else
    s[t] = 0;
  __syncthreads();
  if (!(g.v < n))
    return;
  out[g.v] = s[t];
}

enum { Size = 128 };
__host__ __device__ constexpr int twice(int v) {
  int r = 0;
  for (int i = 0; i < 2; ++i)
    r += v;
  return r;
}
__global__ void unnamed_enum(const float *__restrict__ a,
                             float *__restrict__ out, int *__restrict__, int n) {
  __shared__ float s[Size];
  int t = threadIdx.x, i = blockIdx.x * Size + t;
  s[t] = i < n ? a[i] : 0;
  __syncthreads();
  if (i < n)
    out[i] = s[twice(Size - 1 - t) / 2];
}

__global__ void braces(const float *__restrict__, float *__restrict__ out,
                       int *__restrict__ aux, int n) {
  __shared__ unsigned s[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t] = unsigned{i < n ? (unsigned)i * 3u : unsigned{}};
  __syncthreads();
  if (i < n)
    out[i] = s[(t + 1) % 64];
}

template <int N> struct Zero {
  static __device__ int of(int v) { return v + N - N; }
};
__global__ void condition(const float *__restrict__ a, float *__restrict__ out,
                          int *__restrict__, int n) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  if (bool yes = n > -100)
    s[Zero<3>::of(t)] = g < n ? a[g] : 0;
  __syncthreads();
  if (g < n)
    out[g] = 3 * s[(t + 1) % 64];
}

template <class T>
__global__ void same_name(const T *__restrict__ a, T *__restrict__ out,
                          int *__restrict__, int n) {
  __shared__ T s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = g < n ? a[g] : T();
  __syncthreads();
  if (g < n)
    out[g] = s[(t + 1) % 64];
}
__global__ void same_name(const int *__restrict__ a, int *__restrict__ out,
                          int *__restrict__, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = g < n ? a[g] : 0;
  __syncthreads();
  if (g < n)
    out[g] = s[(t + 2) % 64];
}

// Objects that hold the array's address: their reads are reads of the array, and
// the barrier is theirs.
template <class T> struct View {
  T *p;
  __device__ T &operator[](int i) const { return p[i]; }
  __device__ T at(int i) const { return p[i]; }
};
__global__ void view_object(const float *__restrict__ a,
                            float *__restrict__ out, int *__restrict__, int n) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = g < n ? a[g] : 0;
  __syncthreads();
  View<const float> view{s};
  if (g < n)
    out[g] = view.at((t + 1) % 64);
}
__global__ void view_of_moment(const float *__restrict__ a,
                               float *__restrict__ out, int *__restrict__,
                               int n) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = g < n ? a[g] : 0;
  __syncthreads();
  if (g < n)
    out[g] = s[t] + View<const float>{s}[(t + 1) % 64];
}
__global__ void view_of_pointer(const float *__restrict__ a,
                                float *__restrict__ out, int *__restrict__,
                                int n) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = g < n ? a[g] : 0;
  const float *p = s;
  __syncthreads();
  if (g < n)
    out[g] = s[t] + View<const float>{p}[(t + 1) % 64];
}

int main() {
  for (int n : {331, 64, 1}) {
    Buffer<float> a(randoms<float>(512)), out(1024);
    Buffer<int> aux(1024), b(randoms<int>(512)), c(512);
    shifts<<<blocks(n, 32), 32>>>(a.Data, out.Data, aux.Data, n);
    out.show("shifts", n), aux.show("shifts", n);
    member_operator<<<blocks(n, 32), 32>>>(a.Data, out.Data, aux.Data, n);
    out.show("member_operator", n), aux.show("member_operator", n);
    unnamed_struct<<<blocks(n, 128), 128>>>(a.Data, out.Data, aux.Data, n);
    out.show("unnamed_struct", n);
    unnamed_enum<<<blocks(n, Size), Size>>>(a.Data, out.Data, aux.Data, n);
    out.show("unnamed_enum", n);
    braces<<<blocks(n, 64), 64>>>(a.Data, out.Data, aux.Data, n);
    out.show("braces", n);
    condition<<<blocks(n, 64), 64>>>(a.Data, out.Data, aux.Data, n);
    out.show("condition", n);
    view_object<<<blocks(n, 64), 64>>>(a.Data, out.Data, aux.Data, n);
    out.show("view_object", n);
    view_of_moment<<<blocks(n, 64), 64>>>(a.Data, out.Data, aux.Data, n);
    out.show("view_of_moment", n);
    view_of_pointer<<<blocks(n, 64), 64>>>(a.Data, out.Data, aux.Data, n);
    out.show("view_of_pointer", n);
    same_name<<<blocks(n, 64), 64>>>(a.Data, out.Data, aux.Data, n);
    same_name<<<blocks(n, 64), 64>>>(b.Data, c.Data, aux.Data, n);
    out.show("same_name", n), c.show("same_name", n);
  }
}
