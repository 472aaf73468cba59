// Warps that stage what they read themselves, with __syncwarp() between, run in place: an element
// may be stored only when its own warp's reads are done. That is kept where the threads of a warp
// stay in one warp, however many outputs a thread has and however many blocks lie in one; blocks
// of other shapes are left.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --self-check=off -o %t.cu --list --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -DRCACHE_ANY_LAUNCH
// RUN: rcache-rewrite %s --force --self-check=off --coarsen=2 -q -o %t.2.cu --cuda-path=%cuda
// RUN: rcache-check diff %s %t.2.cu -- -DRCACHE_ANY_LAUNCH
//
// CHECK-DAG: rewritten own<64, 1, 1>:
// CHECK-DAG: rewritten own<96, 1, 1>:
// CHECK-DAG: rewritten own<16, 1, 1>:
// CHECK-DAG: rewritten own<32, 8, 1>:
// CHECK-DAG: rewritten own<96, 2, 1>:
// CHECK-DAG: rewritten own<32, 4, 2>:
// CHECK-DAG: declined own<40, 1, 1>; computed-exchange
// CHECK-DAG: declined own<40, 4, 1>; computed-exchange
// CHECK-DAG: declined own<4, 8, 2>; computed-exchange
#include <cstdio>

#define T (X * Y * Z)
template <int X, int Y, int Z>
__global__ void own(const int *in, int *out, int n) {
  __shared__ int s[T];
  const int t = (threadIdx.z * Y + threadIdx.y) * X + threadIdx.x, g = blockIdx.x * T + t;
  s[t] = g < n ? in[g] : 0;
  __syncwarp();
  const int x = s[(t & ~7) + ((t + 3) & 7)];
  __syncwarp();
  if (g < n)
    out[g] = x + 1;
}

const int n = 7680;
int h[n], *d;

template <int X, int Y, int Z> void run() {
  for (int i = 0; i < n; ++i)
    h[i] = i * 7 % 1001;
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  own<X, Y, Z><<<(n - 1) / T + 1, dim3(X, Y, Z)>>>(d, d, n);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  long long sum = 0;
  for (int x : h)
    sum = sum * 31 + x;
  std::printf("%d x %d x %d: %lld\n", X, Y, Z, sum);
}

int main() {
  cudaMalloc(&d, sizeof h);
  run<64, 1, 1>();
  run<96, 1, 1>();
  run<16, 1, 1>();
  run<32, 8, 1>();
  run<96, 2, 1>();
  run<32, 4, 2>();
  run<40, 1, 1>();
  run<40, 4, 1>();
  run<4, 8, 2>();
}
