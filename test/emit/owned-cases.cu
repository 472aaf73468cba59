// Arrays that a warp owns, where numbers that all threads count alike are known case
// by case: powers of two by the number of a step, and the number of a buffer in an
// index without a sign.
//
// RUN: rcache-rewrite %s -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
//
// REQUIRES: cuda-toolkit
#include "program.h"

// CHECK-DAG: rewrote 'downSteps' {{.*}}; 's' owned by a warp; per output 0.62 shuffles
// TEXT: downSteps_rc(
// TEXT: elements_ahead(rc_s_own, rc_s, 1 << k)
__global__ void downSteps(const float *in, float *out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int k = 7; k >= 0; --k) {
    if (t < (1 << k))
      s[t] += s[t + (1 << k)];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// CHECK-DAG: rewrote 'halves' {{.*}}; 's' owned by a warp; per output 0.62 shuffles
// TEXT: halves_rc(
// TEXT: elements_ahead(rc_s_own, rc_s, 256 >> k)
__global__ void halves(const int *in, int *out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (unsigned k = 1; k <= 8; ++k) {
    const int half = 256 >> k;
    if (t < half)
      s[t] = min(s[t], s[t + half]);
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// CHECK-DAG: rewrote 'scanBySteps' {{.*}}; 's' owned by a warp; per output 5.00 shuffles
__global__ void scanBySteps(const int *in, int *out) {
  __shared__ int s[2][128];
  int t = threadIdx.x, p = 0;
  s[0][t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  for (int k = 0; k < 7; ++k) {
    int d = 1 << k;
    s[1 - p][t] = t >= d ? s[p][t] + s[p][t - d] : s[p][t];
    p = 1 - p;
    __syncthreads();
  }
  out[blockIdx.x * 128 + t] = s[p][t];
}

// CHECK-DAG: rewrote 'walsh' {{.*}}; 's' owned by a warp; per output 5.00 shuffles
__global__ void walsh(const float *in, float *out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int k = 0; k < 8; ++k) {
    float v = s[t ^ (1 << k)];
    float mine = s[t];
    __syncthreads();
    s[t] = (t >> k) & 1 ? v - mine : mine + v;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = s[t];
}

// The number of the buffer in an index that has no sign.
// CHECK-DAG: rewrote 'textbook' {{.*}}; 'temp' owned by a warp; per output 5.00 shuffles
__global__ void textbook(float *out, const float *in, int n) {
  extern __shared__ float temp[];
  int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  int pout = 0, pin = 1;
  temp[t] = g < n ? in[g] : 0.0f;
  __syncthreads();
  for (int offset = 1; offset < blockDim.x; offset *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (t >= offset)
      temp[pout * blockDim.x + t] =
          temp[pin * blockDim.x + t] + temp[pin * blockDim.x + t - offset];
    else
      temp[pout * blockDim.x + t] = temp[pin * blockDim.x + t];
    __syncthreads();
  }
  if (g < n)
    out[g] = temp[pout * blockDim.x + t];
}

// CHECK-DAG: rewrote 'flipped' {{.*}}; 's' owned by a warp
__global__ void flipped(const int *in, int *out) {
  __shared__ int s[2][64];
  int t = threadIdx.x, cur = 0;
  s[0][t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  for (int d = 1; d < 64; d <<= 1) {
    int next = cur ^ 1;
    s[next][t] = s[cur][t] + (t >= d ? s[cur][t - d] : 0);
    cur = next;
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = s[cur][t];
}

// CHECK-DAG: rewrote 'negated' {{.*}}; 's' owned by a warp
__global__ void negated(const int *in, int *out) {
  __shared__ int s[2][64];
  int t = threadIdx.x, d = 1;
  bool second = false;
  s[second][t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  while (d < 64) {
    s[!second][t] = s[second][t] + (t >= d ? s[second][t - d] : 0);
    second = !second;
    d *= 2;
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = s[second][t];
}

// Both numbers are 0 from the second round on: threads race.
// CHECK-DAG: 'sameTwice' left as it is
__global__ void sameTwice(const int *in, int *out) {
  __shared__ int s[2][64];
  int t = threadIdx.x, to = 0, from = 1;
  s[0][t] = s[1][t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  for (int d = 1; d < 64; d <<= 1) {
    to = 1 - from;
    from = 1 - from;
    s[to][t] = s[from][t] + (t >= d ? s[from][t - d] : 0);
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = s[to][t];
}

int main(int argc, char **) {
  const int N = 256 * 40 * argc; // no constant
  Buffer<float> In(randoms<float>(N)), Out(N);
  Buffer<int> Ins(randoms<int>(N)), Outs(N);
  downSteps<<<N / 256, 256>>>(In.Data, Out.Data);
  Out.show("downSteps");
  halves<<<N / 256, 256>>>(Ins.Data, Outs.Data);
  Outs.show("halves");
  scanBySteps<<<N / 128, 128>>>(Ins.Data, Outs.Data);
  Outs.show("scanBySteps");
  walsh<<<N / 256, 256>>>(In.Data, Out.Data);
  Out.show("walsh");
  textbook<<<blocks(N - 100, 256), 256, 2 * 256 * sizeof(float)>>>(Out.Data, In.Data, N - 100);
  Out.show("textbook");
  flipped<<<N / 64, 64>>>(Ins.Data, Outs.Data);
  Outs.show("flipped");
  negated<<<N / 64, 64>>>(Ins.Data, Outs.Data);
  Outs.show("negated");
  if (N < 0)
    sameTwice<<<N / 64, 64>>>(Ins.Data, Outs.Data);
}
