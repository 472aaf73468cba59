// Conditions of variables that held a value of the thread before: what they hold where
// the condition stands is what counts.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite --force %s -o %t.cu --cuda-path=%cuda 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check %s --kernel=chosen --rewritten=%t.cu --trials=40
// CHECK-DAG: rewrote 'chosen'
// CHECK-DAG: 'bodies' left as it is: {{.*}}('i = 0' would be done once for several threads) [effects-not-kept]
// CHECK-DAG: note: declare the loop's counter in its header
// CHECK-DAG: 'kept' left as it is: it is not proved that all threads of the block arrive at a barrier together (threads may leave the loop around it in different rounds: 'c < 3') [divergent-barrier]
#include <cuda_runtime.h>

__global__ void bodies(const float4 *pos, float4 *acc, int n) {
  __shared__ float4 sp[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = pos[i];
  float3 a = {0, 0, 0};
  int tile = threadIdx.x;
  for (i = 0, tile = 0; i < n; i += 64, tile++) {
    sp[threadIdx.x] = pos[tile * 64 + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 64; j++) {
      float dx = sp[j].x - me.x, dy = sp[j].y - me.y;
      a.x += dx * sp[j].w;
      a.y += dy * sp[j].w;
    }
    __syncthreads();
  }
  acc[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(a.x, a.y, a.z, 0);
}

__global__ void rounds(const int *in, int *out, int n) {
  __shared__ int s[66];
  int k = threadIdx.x;
  int sum = k;
  for (k = 0; k < 3; ++k) {
    int g = (k * gridDim.x + blockIdx.x) * 64 + threadIdx.x;
    __syncthreads();
    s[threadIdx.x + 1] = in[g];
    if (threadIdx.x == 0)
      s[0] = s[65] = k;
    __syncthreads();
    sum += s[threadIdx.x] - s[threadIdx.x + 2] * k;
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum + k;
}

__global__ void chosen(const int *in, int *out, int n) {
  __shared__ int s[64];
  int c = threadIdx.x, g = blockIdx.x * 64 + threadIdx.x;
  int v = in[g] + c;
  c = n & 1;
  if (c == 0) {
    s[threadIdx.x] = in[g];
    __syncthreads();
    v += s[63 - threadIdx.x] + c;
  }
  out[g] = v;
}

__global__ void kept(const int *in, int *out, int n) {
  __shared__ int s[64];
  int c = threadIdx.x, g = blockIdx.x * 64 + threadIdx.x;
  s[threadIdx.x] = in[g];
  __syncthreads();
  int v = s[63 - c];
  c = blockIdx.x;
  while (c < 3) {
    __syncthreads();
    s[threadIdx.x] = v + c;
    __syncthreads();
    v += s[(threadIdx.x + 1) % 64];
    ++c;
  }
  out[g] = v + c;
}

void run(const float4 *p, float4 *a, const int *in, int *out, int n) {
  bodies<<<n / 64, 64>>>(p, a, n);
  rounds<<<n / 192, 64>>>(in, out, n);
  chosen<<<n / 64, 64>>>(in, out, n);
  kept<<<n / 64, 64>>>(in, out, n);
}
