// REQUIRES: cuda-toolkit
// RUN: %check run %s | FileCheck %s
// The initial value of a constant local names a shared array.
// CHECK: 0 right
#include <cstdio>
template <class T> struct View {
  T *p;
  __device__ T &operator()(int i) const { return p[i]; }
};
__global__ void kernel(const int *a, int *o, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  const View<const int> view{s};
  s[t] = g < n ? a[g] : 0;
  __syncthreads();
  if (g < n)
    o[g] = view(63 - t);
}
int main() {
  const int n = 331, m = 384;
  int *a, *o;
  cudaMallocManaged(&a, m * 4);
  cudaMallocManaged(&o, m * 4);
  for (int i = 0; i < m; ++i)
    a[i] = i < n ? i : 0;
  kernel<<<(n + 63) / 64, 64>>>(a, o, n);
  std::printf("%d ", int(cudaDeviceSynchronize()));
  bool right = true;
  for (int i = 0; i < n; ++i)
    right &= o[i] == a[i / 64 * 64 + 63 - i % 64];
  std::puts(right ? "right" : "wrong");
}
