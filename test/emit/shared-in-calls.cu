// What a called function stages in an array of its own is the kernel's.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH
#include "program.h"

__device__ float smoothed(const float *in, int n) {
  __shared__ float s[258];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t + 1] = g < n ? in[g] : 0.f;
  if (t == 0)
    s[0] = g > 0 ? in[g - 1] : 0.f;
  if (t == 255)
    s[257] = g + 1 < n ? in[g + 1] : 0.f;
  __syncthreads();
  return (s[t] + s[t + 1] + s[t + 2]) / 3;
}
// CHECK-DAG: rewrote 'once'
__global__ void once(const float *__restrict__ in, float *__restrict__ out, int n) {
  float v = smoothed(in, n);
  int g = blockIdx.x * 256 + threadIdx.x;
  if (g < n)
    out[g] = v;
}

// One array for both calls: the second one finds what the first one left.
// CHECK-DAG: 'twice' left as it is: {{.*}} [call-uses-thread]
__device__ float swapped(float v, bool first) {
  __shared__ float keep[256];
  int t = threadIdx.x;
  float old = first ? 0.f : keep[t ^ 1];
  __syncthreads();
  keep[t] = v;
  __syncthreads();
  return old;
}
__global__ void twice(const float *__restrict__ in, float *__restrict__ out) {
  int g = blockIdx.x * 256 + threadIdx.x;
  float a = swapped(in[g], true);
  float b = swapped(in[g] * 2, false);
  out[g] = a + b;
}

// The same through a function that calls it again, and in a lambda.
// CHECK-DAG: 'through' left as it is: {{.*}} [call-uses-thread]
__device__ float again(float v) {
  float r = swapped(v * 2, false);
  return r;
}
__global__ void through(const float *__restrict__ in, float *__restrict__ out) {
  int g = blockIdx.x * 256 + threadIdx.x;
  float a = swapped(in[g], true);
  float b = again(in[g]);
  out[g] = a + b;
}
// CHECK-NOT: rewrote 'byLambda'
__global__ void byLambda(const float *__restrict__ in, float *__restrict__ out) {
  int g = blockIdx.x * 256 + threadIdx.x;
  auto kept = [&](float v, bool first) {
    __shared__ float keep[256];
    int t = threadIdx.x;
    float old = first ? 0.f : keep[t ^ 1];
    __syncthreads();
    keep[t] = v;
    __syncthreads();
    return old;
  };
  float a = kept(in[g], true);
  float b = kept(in[g] * 2, false);
  out[g] = a + b;
}

// Nothing is shared in what these call.
// CHECK-NOT: 'alone'
__device__ int id() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void alone(const float *in, float *out) { out[id()] = in[id()]; }

int main() {
  const int N = 3000;
  Buffer<float> in(randoms<float>(N)), out(N);
  once<<<blocks(N, 256), 256>>>(in.Data, out.Data, N);
  out.show("once");
  twice<<<N / 256, 256>>>(in.Data, out.Data);
  out.show("twice");
  through<<<N / 256, 256>>>(in.Data, out.Data);
  out.show("through");
  byLambda<<<N / 256, 256>>>(in.Data, out.Data);
  out.show("byLambda");
  alone<<<N / 256, 256>>>(out.Data, in.Data);
  in.show("alone");
}
