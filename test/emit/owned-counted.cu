// Arrays that a warp owns, where other loops than `for` count, and other numbers
// than distances: while and do, nested loops, numbers of buffers.
//
// RUN: rcache-rewrite %s -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
//
// REQUIRES: cuda-toolkit
#include "program.h"

// CHECK-DAG: rewrote 'halved' {{.*}}; 's' owned by a warp; per output 0.62 shuffles
__global__ void halved(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0.0f;
  __syncthreads();
  int d = blockDim.x / 2;
  while (d > 0) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
    d /= 2;
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// CHECK-DAG: rewrote 'untilZero' {{.*}}; 's' owned by a warp
__global__ void untilZero(const int *in, int *out) {
  __shared__ int s[128];
  unsigned t = threadIdx.x, d = 64;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  while (d) {
    if (t < d)
      s[t] = max(s[t], s[t + d]);
    __syncthreads();
    d >>= 1;
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// CHECK-DAG: rewrote 'onceAtLeast' {{.*}}; 's' owned by a warp
__global__ void onceAtLeast(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, d = 1;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  do {
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
    d *= 2;
  } while (d < 64);
  out[blockIdx.x * 64 + t] = s[t];
}

// CHECK-DAG: rewrote 'twoBuffers' {{.*}}; 's' owned by a warp; per output 5.00 shuffles
__global__ void twoBuffers(const float *in, float *out) {
  __shared__ float s[2][256];
  int t = threadIdx.x, from = 0;
  s[0][t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    s[1 - from][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
    from = 1 - from;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = s[from][t];
}

// One array for both buffers, their numbers exchanged by !.
// CHECK-DAG: rewrote 'exclusive' {{.*}}; 's' owned by a warp
__global__ void exclusive(const int *in, int *out) {
  __shared__ int s[2 * 64];
  const int n = 64;
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  int to = 0, from = 1;
  s[t] = t > 0 ? in[g - 1] : 0;
  __syncthreads();
  for (int d = 1; d < n; d <<= 1) {
    if (t >= d)
      s[from * n + t] = s[to * n + t] + s[to * n + t - d];
    else
      s[from * n + t] = s[to * n + t];
    to = 1 - to;
    from = 1 - from;
    __syncthreads();
  }
  out[g] = s[to * n + t];
}

// The numbers have changed where they are used: what the round began with is kept.
// CHECK-DAG: rewrote 'changedBefore' {{.*}}; 's' owned by a warp
__global__ void changedBefore(const int *in, int *out) {
  __shared__ int s[2 * 64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t, to = 0, from = 1;
  s[t] = in[g];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    to = 1 - to;
    from = 1 - to;
    s[to * 64 + t] =
        s[from * 64 + t] + (t >= d ? s[from * 64 + t - d] : 0);
    __syncthreads();
  }
  out[g] = s[to * 64 + t];
}
// CHECK-DAG: rewrote 'toggledTwice' {{.*}}; 's' owned by a warp
__global__ void toggledTwice(const float *in, float *out) {
  __shared__ float s[2][64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t, at = 0;
  s[at][t] = t > 0 ? in[g - 1] : 0;
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    at = 1 - at;
    if (t >= d)
      s[at][t] = s[1 - at][t] + s[1 - at][t - d];
    else
      s[at][t] = s[1 - at][t];
    __syncthreads();
    at = 1 - at;
    s[at][t] = t % 2 ? s[1 - at][t] : -s[1 - at][t];
    __syncthreads();
  }
  out[g] = s[at][t];
}

// A loop in a loop, which goes on where that one left.
// CHECK-DAG: rewrote 'upAndDown' {{.*}}; 's' owned by a warp
__global__ void upAndDown(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t, d = 1;
  s[t] = in[g];
  __syncthreads();
  for (int k = 0; k < 2; ++k) {
    while (d < 16) {
      int v = t + d < 64 ? s[t + d] : k;
      __syncthreads();
      s[t] += v;
      __syncthreads();
      d *= 2;
    }
    while (d > 1) {
      int v = t >= d ? s[t - d] : k;
      __syncthreads();
      s[t] ^= v;
      __syncthreads();
      d /= 2;
    }
  }
  out[g] = s[t];
}

// A warp with two elements a thread.
// CHECK-DAG: rewrote 'oneWarp' {{.*}}; 's' owned by a warp
__global__ void oneWarp(const float *in, float *out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  s[t + 32] = in[blockIdx.x * 64 + t + 32];
  for (int d = 32; d > 0; d /= 2) {
    __syncthreads();
    if (t < d)
      s[t] += s[t + d];
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// Elements of several words, copied as a whole; what is computed for a part of one
// might keep more bits in a register.
struct Best {
  float value;
  int place;
};
// CHECK-DAG: rewrote 'best' {{.*}}; 's' owned by a warp
__global__ void best(const Best *in, Best *out) {
  __shared__ Best s[128];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d && s[t + d].value < s[t].value)
      s[t] = s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}
// CHECK-DAG: 'computed' left as it is
__global__ void computed(const Best *in, Best *out) {
  __shared__ Best s[128];
  int t = threadIdx.x;
  Best b = in[blockIdx.x * 128 + t];
  b.value = b.value * b.value;
  s[t] = b;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d && s[t + d].value + 1.0f < s[t].value)
      s[t] = s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// Atomics behind a tree. One that a thread repeats may wait for others: left.
// CHECK-DAG: rewrote 'total' {{.*}}; 's' owned by a warp
__global__ void total(const int *in, int *out, int n) {
  __shared__ int s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    atomicAdd(out, s[0]);
}
// CHECK-DAG: 'repeated' left as it is
__global__ void repeated(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  for (int d = 32; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  for (int k = 0; k < 3; ++k)
    atomicMax(out + k, s[0] + t);
}

int main(int argc, char **) {
  const int n = 6144 * argc; // no constant
  Buffer<float> F(randoms<float>(n)), G(n);
  Buffer<int> I(randoms<int>(n)), J(n);
  halved<<<n / 256, 256>>>(F.Data, G.Data, n - 100);
  G.show("halved");
  untilZero<<<n / 128, 128>>>(I.Data, J.Data);
  J.show("untilZero");
  onceAtLeast<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("onceAtLeast");
  twoBuffers<<<n / 256, 256>>>(F.Data, G.Data);
  G.show("twoBuffers");
  exclusive<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("exclusive");
  changedBefore<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("changedBefore");
  toggledTwice<<<n / 64, 64>>>(F.Data, G.Data);
  G.show("toggledTwice");
  upAndDown<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("upAndDown");
  oneWarp<<<n / 64, 32>>>(F.Data, G.Data);
  G.show("oneWarp");
  best<<<n / 256, 128>>>((const Best *)F.Data, (Best *)G.Data);
  G.show("best");
  computed<<<n / 256, 128>>>((const Best *)F.Data, (Best *)G.Data);
  G.show("computed");
  total<<<n / 256, 256>>>(I.Data, J.Data, n - 100);
  J.show("total");
  repeated<<<n / 64, 64>>>(I.Data, J.Data + 1);
  J.show("repeated");
}
