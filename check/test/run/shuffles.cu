// REQUIRES: cuda-toolkit
// RUN: %check run %s | FileCheck %s
// RUN: %check run %s --schedule=reverse | FileCheck %s
// RUN: %check run %s --schedule=random:7 | FileCheck %s
// Each shuffle at each width, against the documented rule, for 32 and 64 bits.
#include <cstdio>
#include <cstring>

template <class T> __device__ T valueOf(int lane) { return T(lane * 3 + 1); }

template <class T> __global__ void shuffles(T *out, int width) {
  int lane = threadIdx.x & 31;
  T v = valueOf<T>(lane);
  T *o = out + blockIdx.x * 32 * 40;
  for (int d = 0; d < 8; ++d) {
    o[(d * 4 + 0) * 32 + lane] = __shfl_sync(~0u, v, d * 5, width);
    o[(d * 4 + 1) * 32 + lane] = __shfl_up_sync(~0u, v, d, width);
    o[(d * 4 + 2) * 32 + lane] = __shfl_down_sync(~0u, v, d, width);
    o[(d * 4 + 3) * 32 + lane] = __shfl_xor_sync(~0u, v, d, width);
  }
}

template <class T> int test(int width) {
  static T h[32 * 40];
  T *d;
  cudaMalloc(&d, sizeof(h));
  cudaMemset(d, 0, sizeof(h));
  shuffles<T><<<1, 32>>>(d, width);
  cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
  cudaFree(d);
  int bad = 0;
  for (int k = 0; k < 8; ++k)
    for (int lane = 0; lane < 32; ++lane) {
      int base = lane / width * width, in = lane % width;
      int src[4] = {base + (k * 5) % width, in - k >= 0 ? lane - k : lane,
                    in + k < width ? lane + k : lane,
                    // A partner in an earlier segment is read, a later not.
                    (lane ^ k) < base + width ? lane ^ k : lane};
      for (int op = 0; op < 4; ++op)
        bad += h[(k * 4 + op) * 32 + lane] != T(src[op] * 3 + 1);
    }
  return bad;
}

int main() {
  for (int width = 2; width <= 32; width *= 2)
    printf("width %d: %d %d %d %d\n", width, test<int>(width),
           test<float>(width), test<long long>(width), test<double>(width));
  // CHECK: width 2: 0 0 0 0
  // CHECK: width 4: 0 0 0 0
  // CHECK: width 8: 0 0 0 0
  // CHECK: width 16: 0 0 0 0
  // CHECK: width 32: 0 0 0 0
}
