// Barriers under a bounds check that holds the whole kernel: threads out of bounds
// leave in front of it.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite --force %s -o %t.cu --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check %s --kernel=second --rewritten=%t.cu --trials=60
// RUN: rcache-check %s --kernel=nested --rewritten=%t.cu --trials=60
// CHECK-DAG: rewrote 'second'
// CHECK-DAG: threads for which 'i < n' does not hold return in front of it
// CHECK-DAG: rewrote 'nested'
// Something comes behind it, or an else: not the same.
// CHECK-DAG: 'behind' left as it is: it is not proved that all threads of the block arrive at a barrier together (the condition 'i < n' may differ between threads) [divergent-barrier]
// CHECK-DAG: 'otherwise' left as it is: it is not proved that all threads of the block arrive at a barrier together (the condition 'i < n' may differ between threads) [divergent-barrier]
#include <cuda_runtime.h>

__global__ void second(const double *u, double *d, int n, double h) {
  __shared__ double s[130];
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) {
    s[threadIdx.x + 1] = u[i];
    if (threadIdx.x == 0)
      s[0] = i > 0 ? u[i - 1] : u[i];
    if (threadIdx.x == 127 || i == n - 1)
      s[threadIdx.x + 2] = i + 1 < n ? u[i + 1] : u[i];
    __syncthreads();
    d[i] = (s[threadIdx.x] - 2 * s[threadIdx.x + 1] + s[threadIdx.x + 2]) / (h * h);
  }
}

__global__ void nested(const float *__restrict__ in, float *__restrict__ out,
                       int w, int h) {
  __shared__ float s[8][34];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (y < h) {
    const int row = y * w;
    if (x < w) {
      s[threadIdx.y][threadIdx.x + 1] = in[row + x];
      if (threadIdx.x == 0)
        s[threadIdx.y][0] = x > 0 ? in[row + x - 1] : 0.f;
      if (threadIdx.x == 31 || x == w - 1)
        s[threadIdx.y][threadIdx.x + 2] = x + 1 < w ? in[row + x + 1] : 0.f;
      __syncthreads();
      out[row + x] = s[threadIdx.y][threadIdx.x] + s[threadIdx.y][threadIdx.x + 2];
    }
  }
}

__global__ void behind(const float *in, float *out, int n) {
  __shared__ float s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) {
    s[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = s[127 - threadIdx.x];
  }
  out[n + i] = 1;
}

__global__ void otherwise(const float *in, float *out, int n) {
  __shared__ float s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) {
    s[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = s[127 - threadIdx.x];
  } else
    out[i] = 0;
}

void run(const double *u, double *d, const float *in, float *out, int n, int w, int h) {
  second<<<(n + 127) / 128, 128>>>(u, d, n, 0.01);
  nested<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(in, out, w, h);
  behind<<<n / 128, 128>>>(in, out, n);
  otherwise<<<n / 128, 128>>>(in, out, n);
}
