// What is undefined where the original does not come to, no slot comes to: what a compiler
// is told to take for granted, divisions, functions without a value at their end.
//
// RUN: rcache-rewrite %s --force -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu
// RUN: %if slow %{ %nvcc -std=c++20 -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu --device-code=nvcc -- -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu --device-code=clang -- -I%S/Inputs %}
//
// REQUIRES: cuda-toolkit
#include "program.h"

#define STAGE                                                                    \
  __shared__ int s[130];                                                         \
  const int t = threadIdx.x, base = blockIdx.x * 128, g = base + t;              \
  for (int i = t; i < 130; i += 128)                                             \
    s[i] = base + i < n ? in[base + i] & 0xffff : 1;                             \
  __syncthreads();

// CHECK-DAG: rewrote 'assumes'
// TEXT-LABEL: {{^    |void }}assumes_rc(
// TEXT: if (m == 24301 || g >= n)
// TEXT-NEXT: continue;
// TEXT: __builtin_assume(m != 24301);
__global__ void assumes(const int *in, int *out, int n, int m) {
  STAGE
  if (m == 24301 || g >= n)
    return;
  __builtin_assume(m != 24301);
  out[g] = s[t] + s[t + 1] - s[t + 2] * m;
}

// CHECK-DAG: rewrote 'assumesInside'
__global__ void assumesInside(const int *in, int *out, int n, int m) {
  STAGE
  if (m != 24301 && g < n) {
    __builtin_assume(m != 24301);
    out[g] = s[t] + s[t + 1] - s[t + 2] * m;
  }
}

// CHECK-DAG: 'attribute' left as it is: {{.*}} 'assume') [unsupported-statement]
__global__ void attribute(const int *in, int *out, int n, int m) {
  STAGE
  if (m == 24301 || g >= n)
    return;
  [[assume(m != 24301)]];
  out[g] = s[t] + s[t + 2] * m;
}

enum Op { None = 900, Add, Sub };
__device__ int applied(Op op, int x, int y) {
  switch (op) {
  case Add:
    return x + y;
  case Sub:
    return x - y;
  default:
    break;
  }
  __builtin_unreachable();
}
// CHECK-DAG: rewrote 'unreachable'
__global__ void unreachable(const int *in, int *out, int n, Op op) {
  STAGE
  if (op == None || g >= n)
    return;
  out[g] = applied(op, s[t], s[t + 2]);
}

__device__ int fallsOff(Op op, int x, int y) {
  if (op == Add)
    return x + y;
  else if (op == Sub)
    return x - y;
}
// CHECK-DAG: rewrote 'endless'
__global__ void endless(const int *in, int *out, int n, Op op) {
  STAGE
  if (op == None || g >= n)
    return;
  out[g] = fallsOff(op, s[t], s[t + 2]);
}

// CHECK-DAG: rewrote 'divides'
__global__ void divides(const int *in, int *out, int n, int m) {
  STAGE
  if (m == 0 || g >= n)
    return;
  out[g] = s[t] / m + s[t + 1] % m;
}

// The same for all slots, and still not in front of the question.
// CHECK-DAG: rewrote 'dividesOnce'
// TEXT-LABEL: {{^    |void }}dividesOnce_rc(
// TEXT: continue;
// TEXT: const int q = n / m;
__global__ void dividesOnce(const int *in, int *out, int n, int m) {
  STAGE
  if (m == 0 || g >= n)
    return;
  const int q = n / m;
  out[g] = s[t] * q + s[t + 2];
}

// CHECK-DAG: rewrote 'rounds'
__global__ void rounds(const int *in, int *out, int n, int m) {
  STAGE
  if (m == 0 || g >= n)
    return;
  int sum = 0;
  for (int i = 0; i < n / m % 3; ++i)
    sum += s[t + i] * i;
  out[g] = sum;
}

int main() {
  const int n = 1000;
  const Buffer<int> in(randoms<int>(n));
  for (int m : {3, 24301, 0, -7}) {
    Buffer<int> out(n);
    const auto Show = [&](const char *Name) { out.show(Name, n, m); };
    assumes<<<8, 128>>>(in.Data, out.Data, n, m), Show("assumes");
    assumesInside<<<8, 128>>>(in.Data, out.Data, n, m), Show("assumesInside");
    attribute<<<8, 128>>>(in.Data, out.Data, n, m), Show("attribute");
    divides<<<8, 128>>>(in.Data, out.Data, n, m), Show("divides");
    dividesOnce<<<8, 128>>>(in.Data, out.Data, n, m), Show("dividesOnce");
    rounds<<<8, 128>>>(in.Data, out.Data, n, m), Show("rounds");
  }
  for (Op op : {Add, None, Sub}) {
    Buffer<int> out(n);
    unreachable<<<8, 128>>>(in.Data, out.Data, n, op);
    out.show("unreachable", n, op);
    endless<<<8, 128>>>(in.Data, out.Data, n, op);
    out.show("endless", n, op);
  }
}
