// Parameters without a name, arrays as parameters, default arguments at the
// definition or in a declaration before it: the kernel that is added has one
// more parameter behind them, and launches may leave some out.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck --check-prefix=REMARK %s < %t.remarks
// RUN: FileCheck %s < %t.cu
// RUN: rcache-check diff %s %t.cu
// RUN: %if slow %{ %nvcc -std=c++17 -DRCACHE_VERIFY -ptx %t.cu -o %t.ptx %}
//
// REMARK: rewrote 'unnamed'
// REMARK: rewrote 'declared'
// CHECK: void unnamed{{_rc}}(
// CHECK-SAME: int rc_unnamed_2,
// CHECK: void unnamed{{_rc_launch}}(
// CHECK: int rc_unnamed_2, int n = (N),
// CHECK: int (*rc_unnamed_4)[4] = nullptr)
// CHECK: void declared{{_rc}}(const float in[], float *out
// CHECK: void declared{{_rc_launch}}(
// CHECK: float weights[3] = nullptr,
// CHECK: int n = N /* elements */, float f = 0.5f,
#include <cstdio>
#include <vector>

#define N 100000

__global__ void declared(const float in[], float *out,
                         float weights[3] = nullptr, int n = N, float f = 0.5f,
                         int (*)[4] = nullptr);

__global__ void unnamed(const float *in, float *out, int, int n = (N),
                        int (*)[4] = nullptr) {
  __shared__ float s[258];
  const int g = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x + 1] = g < n ? in[g] : 0.0f;
  if (threadIdx.x == 0)
    s[0] = g > 0 && g <= n ? in[g - 1] : 0.0f;
  if (threadIdx.x == 255)
    s[257] = g + 1 < n ? in[g + 1] : 0.0f;
  __syncthreads();
  if (g < n)
    out[g] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}

__global__ void declared(const float in[], float *out, float weights[3],
                         int n /* elements */, float f, int (*)[4]) {
  __shared__ float s[258];
  const int g = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x + 1] = g < n ? in[g] : 0.0f;
  if (threadIdx.x == 0)
    s[0] = g > 0 && g <= n ? in[g - 1] : 0.0f;
  if (threadIdx.x == 255)
    s[257] = g + 1 < n ? in[g + 1] : 0.0f;
  __syncthreads();
  if (g < n)
    out[g] = f * (s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2]);
}

int main(int argc, char **) {
  std::vector<float> h(N);
  for (int i = 0; i < N; ++i)
    h[i] = float(i % 37);
  float *a, *b;
  cudaMalloc(&a, N * sizeof(float));
  cudaMalloc(&b, N * sizeof(float));
  cudaMemcpy(a, h.data(), N * sizeof(float), cudaMemcpyHostToDevice);
  unnamed<<<(N * argc + 255) / 256, 256>>>(a, b, 3);
  unnamed<<<4 * argc, 256>>>(a, b, 3, 1000);
  declared<<<(N * argc + 255) / 256, 256>>>(a, b);
  cudaMemcpy(h.data(), b, N * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", h[N / 2]);
  return cudaDeviceSynchronize() != cudaSuccess;
}
