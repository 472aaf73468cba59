// Accumulations under a condition whose variables live on behind it: what runs for all
// slots there would change those without the condition.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
// RUN: %if slow %{ rcache-rewrite %s --force --coarsen=2 -o %t.2.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs %}
// RUN: %if slow %{ rcache-check diff %s %t.2.cu -- -I%S/Inputs %}
//
// SAME: equivalent: 11 launches {{.*}}; 11 by a rewritten kernel
#include "program.h"

// CHECK-DAG: rewrote 'plain'
__global__ void plain(const int *in, int *out, int n, int m) {
  __shared__ int s[128 + 8];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t < 8)
    s[t + 128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  int v = s[t];
  if (t > 70)
    for (int i = 0; i < 2; i++)
      v += s[i];
  if (g < n)
    out[g] = v;
}
// CHECK-DAG: rewrote 'ofAll'
__global__ void ofAll(const int *in, int *out, int n, int m) {
  __shared__ int s[128 + 8];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t < 8)
    s[t + 128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  int v = s[t];
  if (m > 3)
    for (int i = 0; i < 5; i++)
      v += s[t + i];
  if (g < n)
    out[g] = v;
}
// CHECK-DAG: rewrote 'braces'
__global__ void braces(const int *in, int *out, int n, int m) {
  __shared__ int s[128 + 8];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t < 8)
    s[t + 128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  int v = s[t];
  if (g < n - 9) {
    v *= 3;
    for (int i = 0; i < 5; i++)
      v += s[t + i] * i;
    v += 7;
  }
  if (g < n)
    out[g] = v;
}
// CHECK-DAG: rewrote 'nested'
__global__ void nested(const int *in, int *out, int n, int m) {
  __shared__ int s[128 + 8];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t < 8)
    s[t + 128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  int v = 0, w = 1;
  if (t % 3 == 1)
    if (g + m < n) {
      for (int i = 0; i < 5; i++)
        v += s[t + i];
      w = v;
    }
  v += w;
  if (g < n)
    out[g] = v;
}
// CHECK-DAG: rewrote 'between'
__global__ void between(const int *in, int *out, int n, int m) {
  __shared__ int s[128 + 8];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t < 8)
    s[t + 128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  int v = 0;
  for (int i = 0; i < 3; i++)
    v += s[t + i];
  if (v > 0)
    for (int i = 0; i < 3; i++)
      v -= 2 * s[t + i + 1];
  for (int i = 0; i < 3; i++)
    v = max(v, s[t + i + 2]);
  if (g < n)
    out[g] = v;
}
// CHECK-DAG: rewrote 'rounds'
__global__ void rounds(const int *in, int *out, int n, int m) {
  __shared__ int s[128 + 8];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t < 8)
    s[t + 128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  int v = 0, w = 0;
  for (int r = 0; r < 3; r++) {
    if (t > 9 * r) {
      for (int i = 0; i < 4; i++)
        w += s[t + i + r];
    }
    v += w * r;
  }
  if (g < n)
    out[g] = v;
}
// CHECK-DAG: rewrote 'least'
__global__ void least(const int *in, int *out, int n, int m) {
  __shared__ int s[128 + 8];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t < 8)
    s[t + 128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  int v = 1000, at = -1;
  if ((t & 1) == 0)
    for (int i = 0; i < 5; i++)
      if (s[t + i] < v) {
        v = s[t + i];
        at = i;
      }
  v = v * 8 + at;
  if (g < n)
    out[g] = v;
}
// CHECK-DAG: rewrote 'inside'
__global__ void inside(const int *in, int *out, int n, int m) {
  __shared__ int s[128 + 8];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t < 8)
    s[t + 128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  int v = 5;
  if (t < 100) {
    int x = 0;
    for (int i = 0; i < 5; i++)
      x += s[t + i];
    v = x;
  }
  if (g < n)
    out[g] = v;
}
// CHECK-DAG: rewrote 'twoWays'
__global__ void twoWays(const int *in, int *out, int n, int m) {
  __shared__ int s[128 + 8];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t < 8)
    s[t + 128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  int v = s[t];
  if (t > 70)
    for (int i = 0; i < 4; i++)
      v += s[t + i];
  else
    for (int i = 0; i < 4; i++)
      v -= s[t + 4 - i];
  if (g < n)
    out[g] = v;
}
// CHECK-DAG: rewrote 'counted'
__global__ void counted(const int *in, int *out, int n, int m) {
  __shared__ int s[128 + 8];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t < 8)
    s[t + 128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  int v = 0, c = 0;
  if (t >= m) {
    for (int i = 0; i < 5; i++) {
      c++;
      v += s[t + i] * c;
    }
  }
  v += c;
  if (g < n)
    out[g] = v;
}
// Stored in there, read behind; an early return before.
// CHECK-DAG: rewrote 'stores'
__global__ void stores(const int *in, int *out, int n, int m) {
  __shared__ int s[128 + 8];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  if (t < 8)
    s[t + 128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  if (g >= n)
    return;
  int v = m;
  if (t > 20) {
    for (int i = 0; i < 5; i++)
      v += s[t + i];
    out[g] = v;
  }
  if (t <= 20)
    out[g] = v;
}

int main() {
  const int n = 1000;
  Buffer<int> in(randoms<int>(n)), out(n);
  plain<<<8, 128>>>(in.Data, out.Data, n, 4);
  out.show("plain");
  ofAll<<<8, 128>>>(in.Data, out.Data, n, 4);
  out.show("ofAll");
  braces<<<8, 128>>>(in.Data, out.Data, n, 4);
  out.show("braces");
  nested<<<8, 128>>>(in.Data, out.Data, n, 4);
  out.show("nested");
  between<<<8, 128>>>(in.Data, out.Data, n, 4);
  out.show("between");
  rounds<<<8, 128>>>(in.Data, out.Data, n, 4);
  out.show("rounds");
  least<<<8, 128>>>(in.Data, out.Data, n, 4);
  out.show("least");
  inside<<<8, 128>>>(in.Data, out.Data, n, 4);
  out.show("inside");
  twoWays<<<8, 128>>>(in.Data, out.Data, n, 4);
  out.show("twoWays");
  counted<<<8, 128>>>(in.Data, out.Data, n, 4);
  out.show("counted");
  stores<<<8, 128>>>(in.Data, out.Data, n, 4);
  out.show("stores");
}
