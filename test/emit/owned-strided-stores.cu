// What threads store that they read at multiples of their numbers is run by the lanes that
// own it, under other threads' numbers: slots do not collect it for a vector. And a vector
// is loaded where all slots read and the address is aligned, also where signs are mixed in
// what is asked.
//
// RUN: rcache-rewrite %s --force --exchange=owned --distribution=chunked -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %s --force --exchange=owned --distribution=cyclic -o %t.r.cu -q -- -I%S/Inputs
// RUN: rcache-check diff %s %t.r.cu -- -I%S/Inputs
// REQUIRES: cuda-toolkit, rcache-check
#include "program.h"

// CHECK-DAG: rewrote 'everyOther' {{.*}}; 's' owned by a warp
__global__ void everyOther(const float *in, float *out) {
  __shared__ float s[128];
  const int t = threadIdx.x, b = blockIdx.x * 128;
  s[2 * t] = in[b + t];
  s[2 * t + 1] = in[b + t + 64];
  __syncthreads();
  if (t < 32)
    s[4 * t] += s[4 * t + 2];
  __syncthreads();
  out[b + t] = s[2 * t];
}

// CHECK-DAG: rewrote 'halves' {{.*}}; 's' owned by a warp
__global__ void halves(const int *in, int *out) {
  __shared__ int s[256];
  const int t = threadIdx.x, b = blockIdx.x * 256;
  s[t] = in[b + t];
  s[t + 128] = in[b + t + 128];
  __syncthreads();
  s[2 * t] += 3 * s[2 * t + 1];
  __syncthreads();
  out[b + t] = s[2 * t];
  out[b + t + 128] = s[2 * t + 1];
}

// CHECK-DAG: rewrote 'sums' {{.*}}; 's' owned by a warp
__global__ void sums(const short *in, short *out) {
  __shared__ short s[256];
  const int t = threadIdx.x, b = blockIdx.x * 256;
  s[t] = in[b + t];
  s[t + 128] = in[b + t + 128];
  __syncthreads();
  if (t < 64)
    s[4 * t] += s[4 * t + 1];
  __syncthreads();
  out[blockIdx.x * 128 + t] = s[2 * t] + s[2 * t + 1];
}

// CHECK-DAG: rewrote 'signs' {{.*}}; 's' owned by a warp
__global__ void signs(const float *in, float *out, int n) {
  __shared__ float s[64];
  const unsigned t = threadIdx.x;
  const int base = blockIdx.x * 64;
  s[t] = base + t < n ? in[base + t] : 0.f;
  __syncthreads();
  if (t < 32)
    s[2 * t] += s[2 * t + 1];
  __syncthreads();
  if (base + t < n)
    out[base + t] = s[t];
}

int main() {
  const int n = 1024;
  Buffer<float> in(randoms<float>(n + 4)), out(n + 4);
  Buffer<int> ints(randoms<int>(n)), intsOut(n);
  Buffer<short> shorts(randoms<short>(n)), shortsOut(n);
  everyOther<<<n / 128, 64>>>(in.Data, out.Data);
  out.show("everyOther");
  halves<<<n / 256, 128>>>(ints.Data, intsOut.Data);
  intsOut.show("halves");
  sums<<<n / 256, 128>>>(shorts.Data, shortsOut.Data);
  shortsOut.show("sums");
  for (int off = 0; off < 3; ++off) {
    signs<<<n / 64, 64>>>(in.Data + off, out.Data + off, n - 5 * off);
    out.show("signs");
  }
}
