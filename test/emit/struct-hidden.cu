// Memory that pointers in structs lead to, read and written by functions and methods that
// get the struct: what is staged may change behind the barrier, and a shared array may be
// what such a pointer, or a reference to one, leads to.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH
//
// CHECK-DAG: 'inStruct' left as it is: {{.*}} ('s' is kept in a struct) [escaping-array]
// CHECK-DAG: rewrote 'inPlace'
#include "program.h"
struct View {
  int wide;
  float *at;
};
struct Span {
  float *at;
  __device__ float operator()(int i) const { return at[i]; }
  __device__ void set(int i, float x) const { at[i] = x; }
};
__device__ float get(View v, int i) { return v.at[i]; }
__device__ void set(View v, int i, float x) { v.at[i] = x; }
struct Deep { View v; int k; };
__device__ float getDeep(const Deep &d, int i) { float r = 0; for (int k = 0; k < d.k; ++k) r += d.v.at[i]; return r; }
__device__ void setDeep(const Deep &d, int i, float x) { for (int k = 0; k < d.k; ++k) d.v.at[i] = x; }
__global__ void inPlace(View v, int n) {
  __shared__ float s[128 + 1];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = get(v, g);
  if (t == 0) s[128] = get(v, n + blockIdx.x);
  __syncthreads();
  if (g < n) set(v, g, s[t] - s[t + 1]);
}
__global__ void inPlaceDeep(Deep v, int n) {
  __shared__ float s[128 + 1];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = getDeep(v, g);
  if (t == 0) s[128] = getDeep(v, n + blockIdx.x);
  __syncthreads();
  if (g < n) setDeep(v, g, s[t] - s[t + 1]);
}
__global__ void inStruct(const float *a, float *o, int n) {
  __shared__ float s[128 + 1];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  View v; v.wide = 1; v.at = s;
  s[t] = a[g];
  if (t == 0) s[128] = a[g + 128];
  __syncthreads();
  if (g < n) o[g] = v.at[t] - v.at[t + 1];
}
__device__ inline float take(const float *&p) { return *p++; }
__device__ inline float peek(float *const &p) { return p[1]; }
__global__ void byRef(const float *a, float *o, int n) {
  __shared__ float s[128 + 1];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = a[g];
  if (t == 0) s[128] = a[g + 128];
  __syncthreads();
  if (g >= n) return;
  float *q = &s[t]; const float *p = q;
  o[g] = take(p) - take(p) + peek(q);
}
__global__ void byMethod(Span v, int n) {
  __shared__ float s[128 + 1];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = v(g);
  if (t == 0)
    s[128] = v(n + blockIdx.x);
  __syncthreads();
  if (g < n)
    v.set(g, s[t] - s[t + 1]);
}
int main() {
  const int n = 2048;
  Buffer<float> A(randoms<float>(n + 200)), B(n);
  View v{1, A.Data};
  inPlace<<<16, 128>>>(v, n); A.show("a");
  inPlaceDeep<<<16, 128>>>(Deep{v, 2}, n); A.show("b");
  byMethod<<<16, 128>>>(Span{A.Data}, n); A.show("m");
  inStruct<<<15, 128>>>(A.Data, B.Data, 15 * 128 - 3); B.show("c");
  byRef<<<15, 128>>>(A.Data, B.Data, 15 * 128 - 3); B.show("d");
}
