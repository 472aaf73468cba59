// Macros of one letter, from the command line and from the file: neither what a
// rewritten file brings along nor the checker's own program has such names.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -DR=3 -DB=128 -DK=2 -DP=9 -DS=8 -DG=7 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -DR=3 -DB=128 -DK=2 -DP=9 -DS=8 -DG=7
// RUN: %if slow %{ rcache-check %s --rewritten=%t.cu --trials=10 -- -DR=3 -DB=128 -DK=2 -DP=9 -DS=8 -DG=7 %}
// RUN: rcache-check run %t.cu -- -DR=3 -DB=128 -DK=2 -DP=9 -DS=8 -DG=7 -DRCACHE_VERIFY
// RUN: %compile -std=c++17 -DR=3 -DB=128 -DK=2 -DP=9 -DS=8 -DG=7 -c %t.cu -o %t.o
// RUN: %if slow %{ %compile -std=c++17 -DR=3 -DB=128 -DK=2 -DP=9 -DS=8 -DG=7 -DRCACHE_VERIFY -c %t.cu -o %t.v.o %}
// CHECK: rewrote 'smooth' {{.*}}shuffled
#include <cstdio>
#include <vector>
#ifndef N
#define N 2000
#endif
#define T float
#define V 4
#define A 5
#define E 6
#define U 1
#define C 1
#define y(i) in[i] // `grid.y` is none of it

__global__ void smooth(const T *__restrict__ in, T *out, int n) {
  __shared__ T s[B + 2 * R];
  const int g = blockIdx.x * B + threadIdx.x;
  for (int i = threadIdx.x; i < B + 2 * R; i += B) {
    const int x = blockIdx.x * B + i - R;
    s[i] = x >= 0 && x < n ? y(x) : T(0);
  }
  __syncthreads();
  T sum = 0;
  for (int i = 0; i <= 2 * R; ++i)
    sum += s[threadIdx.x + i];
  if (g < n)
    out[g] = sum * C;
}

int main() {
  std::vector<T> host(N);
  for (int i = 0; i < N; ++i)
    host[i] = T(i % 31) / V;
  T *in, *out;
  cudaMalloc(&in, N * sizeof(T));
  cudaMalloc(&out, N * sizeof(T));
  cudaMemcpy(in, host.data(), N * sizeof(T), cudaMemcpyHostToDevice);
  smooth<<<(N + B - 1) / B, B>>>(in, out, N);
  cudaMemcpy(host.data(), out, N * sizeof(T), cudaMemcpyDeviceToHost);
  printf("%f\n", double(host[N / 2]));
}
