// Kernels whose names leave out a namespace, or whose symbols leave out all.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --self-check=quick -o %t.cu --cuda-path=%cuda 2>&1 | FileCheck %s
// CHECK: rewrote 'ns::k<2>'
// CHECK: note: executed before it was written
// CHECK: rewrote 'A::B::n3'
// CHECK: note: executed before it was written
namespace ns {
inline namespace v1 {
template <int N> __global__ void k(const float *a, float *o, int n) {
  __shared__ float s[130];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int i = t; i < 130; i += 128) {
    int q = (int)(blockIdx.x * 128) + i - 1;
    s[i] = q >= 0 && q < n ? a[q] : 0;
  }
  __syncthreads();
  if (g < n)
    o[g] = s[t] + s[t + N];
}
} // namespace v1
} // namespace ns
namespace A {
namespace B {
extern "C" __global__ void n3(const float *a, float *o, int n) {
  __shared__ float s[130];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int i = t; i < 130; i += 128) {
    int q = (int)(blockIdx.x * 128) + i - 1;
    s[i] = q >= 0 && q < n ? a[q] : 0;
  }
  __syncthreads();
  if (g < n)
    o[g] = s[t] + s[t + 2];
}
} // namespace B
} // namespace A
void h(const float *a, float *o, int n) {
  ns::k<2><<<(n + 127) / 128, 128>>>(a, o, n);
  A::B::n3<<<(n + 127) / 128, 128>>>(a, o, n);
}
