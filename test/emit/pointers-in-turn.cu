// Two shared arrays that pointers name in turn are the rows of one, and which row is which is
// a number. And kernels in which the pointers do something else: their text stays.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'scan' {{.*}}'in_turn' owned by a warp
// CHECK-DAG: rewrote 'together' {{.*}}'in_turn' owned by a warp
// CHECK-DAG: rewrote 'rows' {{.*}}'both' owned by a warp
// CHECK-DAG: rewrote 'passed' {{.*}}'in_turn' owned by a warp
// CHECK-DAG: rewrote 'moved' {{.*}}'a' kept shared; 'b' kept shared
// CHECK-DAG: rewrote 'unlike' {{.*}}'a' kept shared; 'b' kept shared
#include "program.h"

// As the textbook has it.
__global__ void scan(const float *X, float *Y, unsigned N) {
  __shared__ float buffer1_s[128];
  __shared__ float buffer2_s[128];
  float *inBuffer_s = buffer1_s;
  float *outBuffer_s = buffer2_s;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  inBuffer_s[threadIdx.x] = (i < N) ? X[i] : 0.0f;
  __syncthreads();
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if (threadIdx.x >= stride)
      outBuffer_s[threadIdx.x] = inBuffer_s[threadIdx.x] + inBuffer_s[threadIdx.x - stride];
    else
      outBuffer_s[threadIdx.x] = inBuffer_s[threadIdx.x];
    __syncthreads();
    float *tmp = inBuffer_s;
    inBuffer_s = outBuffer_s;
    outBuffer_s = tmp;
  }
  if (i < N)
    Y[i] = inBuffer_s[threadIdx.x];
}

// Declared together, an array by its own name, a pointer that is kept outside.
__global__ void together(const int *u, int *v, int n) {
  __shared__ int a[128], b[128];
  const int t = threadIdx.x, g = blockIdx.x * 120 + t - 4;
  a[t] = g >= 0 && g < n ? u[g] : 0; // into a
  int *p = a, *q = b;
  int *kept;
  __syncthreads();
  for (int step = 0; step < 4; ++step) {
    int c = p[t];
    if (t > 0 && t < 127)
      c = max(p[t - 1] - c, p[t + 1]);
    q[t] = c;
    __syncthreads();
    kept = p; p = q; q = kept;
  }
  if (t >= 4 && t < 124 && g < n)
    v[g] = p[t];
}

__global__ void rows(const int *u, int *v, int n) {
  __shared__ int both[2][64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  int *from = both[0], *to = both[1];
  from[t] = g < n ? u[g] : 0;
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    to[t] = t >= d ? max(from[t], from[t - d]) : from[t];
    __syncthreads();
    int *x = from;
    from = to;
    to = x;
  }
  if (g < n)
    v[g] = from[t];
}

__device__ int last(const int *s) { return s[63] + s[0]; }
__global__ void passed(const int *u, int *v, int n) {
  __shared__ int a[64], b[64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  int *from = a, *to = b;
  from[t] = g < n ? u[g] : 0;
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    to[t] = t >= d ? max(from[t], from[t - d]) : from[t];
    __syncthreads();
    int *x = from;
    from = to;
    to = x;
  }
  if (g < n)
    v[g] = from[t] + last(from);
}

__global__ void moved(const int *u, int *v, int n) {
  __shared__ int a[64], b[64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  int *from = a, *to = b;
  from[t] = g < n ? u[g] : 0;
  __syncthreads();
  for (int d = 1; d < 8; ++d) {
    to[t] = t >= 1 ? max(from[t], from[t - 1]) : from[t];
    __syncthreads();
    int *x = from;
    from = to;
    to = x;
    if (d == 3)
      from = b;
    __syncthreads();
  }
  if (g < n)
    v[g] = from[t];
}

__global__ void unlike(const int *u, int *v, int n) {
  __shared__ int a[64], b[96];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  int *from = a, *to = b;
  from[t] = g < n ? u[g] : 0;
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    to[t] = t >= d ? max(from[t], from[t - d]) : from[t];
    __syncthreads();
    int *x = from;
    from = to;
    to = x;
  }
  if (g < n)
    v[g] = from[t];
}

int main() {
  const int n = 500;
  Buffer<int> x(randoms<int>(n)), o(n);
  Buffer<float> xf(randoms<float>(n)), of(n);
  scan<<<blocks(n, 128), 128>>>(xf.Data, of.Data, n);
  of.show("scan");
  together<<<blocks(n, 120), 128>>>(x.Data, o.Data, n);
  o.show("together");
#define RUN(k)                                                                                     \
  k<<<blocks(n, 64), 64>>>(x.Data, o.Data, n);                                                     \
  o.show(#k)
  RUN(rows);
  RUN(passed);
  RUN(moved);
  RUN(unlike);
}
