// Declarations of several variables of which one is a thread's number and another one
// changes: what all slots share is declared once, what threads change is each slot's.
//
// RUN: rcache-rewrite %s --force -o %t.cu -- -I%S/Inputs >%t.log 2>&1
// RUN: FileCheck %s --input-file=%t.log
// RUN: FileCheck %s --input-file=%t.cu --check-prefix=TEXT
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
//
// REQUIRES: cuda-toolkit
#include "program.h"

// A scan after Blelloch up: `offset` is what the steps are made of.
// CHECK-DAG: rewrote 'steps' {{.*}}; 'temp' owned by a warp
// TEXT: steps_rc(
// TEXT: {{^  int offset = 1;$}}
__global__ void steps(const int *in, int *out) {
  __shared__ int temp[128];
  int t = threadIdx.x, offset = 1, base = blockIdx.x * 128;
  temp[2 * t] = in[base + 2 * t];
  temp[2 * t + 1] = in[base + 2 * t + 1];
  for (int d = 64; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d)
      temp[offset * (2 * t + 2) - 1] += temp[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  __syncthreads();
  out[base + 2 * t] = temp[2 * t] + offset;
  out[base + 2 * t + 1] = temp[2 * t + 1] - offset;
}

// Some threads change it, and keep it while elements come to them.
// CHECK-DAG: rewrote 'byThreads' {{.*}}; 'temp' owned by a warp
// TEXT: byThreads_rc(
// TEXT: {{^  int offset\[2\];$}}
__global__ void byThreads(const int *in, int *out) {
  __shared__ int temp[128];
  int t = threadIdx.x, offset = 1, base = blockIdx.x * 128;
  temp[2 * t] = in[base + 2 * t];
  temp[2 * t + 1] = in[base + 2 * t + 1];
  if (t % 3 == 1)
    offset = 4;
  __syncthreads();
  if (t < 16)
    temp[2 * t + 1] += temp[2 * t];
  __syncthreads();
  out[base + 2 * t] = temp[2 * t] + offset;
  out[base + 2 * t + 1] = temp[2 * t + 1] - offset;
}

// Changed between statements that threads run, between the same barriers.
// CHECK-DAG: rewrote 'between' {{.*}}; 's' reloaded
__global__ void between(const int *in, int *out, int n) {
  __shared__ int s[128 + 2];
  int t = threadIdx.x, weight = 2, g = blockIdx.x * 128 + t;
  s[t] = in[g] * weight;
  weight = 3;
  if (t < 2)
    s[t + 128] = g + 128 < n ? in[g + 128] * 2 : 0;
  __syncthreads();
  int sum = s[t] * weight;
  weight += 2;
  sum += s[t + 1] * weight;
  weight *= 2;
  out[g] = sum + s[t + 2] * weight;
}

// Each round declares it anew; a statement of all threads changes it in place.
// CHECK-DAG: rewrote 'rounds' {{.*}}; 's'
__global__ void rounds(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = in[g];
  __syncthreads();
  for (int d = 32; d > 0; d >>= 1) {
    int u = t + d, scale = d;
    scale += 1;
    if (t < d)
      s[t] += s[u] * scale;
    scale *= 3;
    if (t < d)
      s[t] ^= scale;
    __syncthreads();
  }
  out[g] = s[t];
}

// Made of a neighbour in the declaration that changes later; changed where it is
// used.
// CHECK-DAG: rewrote 'siblings' {{.*}}; 's'
__global__ void siblings(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, a = 1, b = a + 1, c = t + b, g = blockIdx.x * 64 + t;
  a = 7;
  s[t] = in[g] + a++;
  __syncthreads();
  for (int d = 32; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d] + a + b;
    b += 1;
    __syncthreads();
  }
  out[g] = s[t] + a + b + c;
}

int main() {
  const int n = 3072;
  Buffer<int> I(randoms<int>(n)), J(n);
  steps<<<n / 128, 64>>>(I.Data, J.Data);
  J.show("steps");
  byThreads<<<n / 128, 64>>>(I.Data, J.Data);
  J.show("byThreads");
  between<<<n / 128, 128>>>(I.Data, J.Data, n);
  J.show("between");
  rounds<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("rounds");
  siblings<<<n / 64, 64>>>(I.Data, J.Data);
  J.show("siblings");
}
