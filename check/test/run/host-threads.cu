// REQUIRES: cuda-toolkit
// RUN: %check run %s --timeout=60 2>&1 | FileCheck %s
// Launches of several threads of the host at the same time.
// CHECK: {{^}}right
// CHECK-NOT: {{.}}
#include <cstdio>
#include <thread>
#include <vector>
__global__ void kernel(int *o, int n, int add) {
  __shared__ int s[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  s[threadIdx.x] = i;
  __syncthreads();
  if (i < n)
    o[i] = s[63 - threadIdx.x] + add;
}
int main() {
  constexpr int N = 1000;
  bool right[4] = {};
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&, t] {
      int *o, h[N];
      cudaMalloc(&o, sizeof(h));
      right[t] = true;
      for (int round = 0; round < 20; ++round) {
        kernel<<<(N + 63) / 64, 64>>>(o, N, 100 * t + round);
        cudaMemcpy(h, o, sizeof(h), cudaMemcpyDeviceToHost);
        for (int i = 0; i < N; ++i)
          right[t] &= h[i] == i / 64 * 64 + 63 - i % 64 + 100 * t + round;
      }
    });
  for (std::thread &t : all)
    t.join();
  std::puts(right[0] && right[1] && right[2] && right[3] ? "right" : "wrong");
}
