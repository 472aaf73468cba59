// Arrays that are declared outside the kernel: at file scope, in a function or a conversion
// that gives back a pointer. Their registers stand where the kernel begins. And values that a
// thread keeps while others' come to it through the array.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'dynamic' {{.*}}'pool' owned by a warp
// CHECK-DAG: rewrote 'fixed' {{.*}}'slots' owned by a warp
// CHECK-DAG: rewrote 'helped' {{.*}}'slots' owned by a warp
// CHECK-DAG: rewrote 'converted<float>' {{.*}}'memory' owned by a warp
// CHECK-DAG: rewrote 'converted<int>' {{.*}}'memory' owned by a warp
// CHECK-DAG: rewrote 'ladder<int, 256>' {{.*}}'memory' owned by a warp
// CHECK-DAG: rewrote 'grouped' {{.*}}'temp' owned by a warp
// CHECK-DAG: rewrote 'keeps' {{.*}}'temp' owned by a warp
// CHECK-DAG: rewrote 'converted<double>' {{.*}}'memory' owned by a warp
// CHECK-DAG: 'halves' left as it is
#include "program.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern __shared__ float pool[];
__shared__ int slots[128];

__global__ void dynamic(const float *u, float *v, int n) {
  const unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  pool[t] = g < n ? u[g] : 0.0f;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d)
      pool[t] = pool[t] + pool[t + d];
    __syncthreads();
  }
  if (t == 0)
    v[blockIdx.x] = pool[0];
}

__global__ void fixed(const int *u, int *v, int n) {
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  slots[t] = g < n ? u[g] : 0;
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    const int x = t >= d ? slots[t - d] : 0;
    __syncthreads();
    slots[t] += x;
    __syncthreads();
  }
  if (g < n)
    v[g] = slots[t];
}

__device__ void put(int i, int x) { slots[i] = x; }
__device__ int first() { return slots[0]; }
__global__ void helped(const int *u, int *v, int n) {
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  put(t, g < n ? u[g] : 0);
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d)
      slots[t] = max(slots[t], slots[t + d]);
    __syncthreads();
  }
  if (g < n)
    v[g] = first() - u[g];
}

template <class T> struct SharedMemory {
  __device__ inline operator T *() {
    extern __shared__ int memory[];
    return (T *)memory;
  }
};

template <class T> __global__ void converted(const T *u, T *v, int n) {
  T *sums = SharedMemory<T>();
  const unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  sums[t] = g < n ? u[g] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0)
      sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0)
    v[blockIdx.x] = sums[0];
}

// As a widely copied sample has it: values kept by threads, the last steps by one warp.
template <class T, unsigned Threads> __global__ void ladder(const T *u, T *v, unsigned n) {
  T *sums = SharedMemory<T>();
  const unsigned t = threadIdx.x, i = blockIdx.x * Threads * 2 + t;
  T mine = i < n ? u[i] : 0;
  if (i + Threads < n)
    mine += u[i + Threads];
  sums[t] = mine;
  __syncthreads();
  if (Threads >= 256) { if (t < 128) { sums[t] = mine = mine + sums[t + 128]; } __syncthreads(); }
  if (Threads >= 128) { if (t < 64) { sums[t] = mine = mine + sums[t + 64]; } __syncthreads(); }
  if (t < 32) {
    volatile T *tail = sums;
    if (Threads >= 64) { mine += tail[t + 32]; __syncwarp(); tail[t] = mine; __syncwarp(); }
    if (Threads >= 32) { mine += tail[t + 16]; __syncwarp(); tail[t] = mine; __syncwarp(); }
    if (Threads >= 16) { mine += tail[t + 8]; __syncwarp(); tail[t] = mine; __syncwarp(); }
    if (Threads >= 8) { mine += tail[t + 4]; __syncwarp(); tail[t] = mine; __syncwarp(); }
    if (Threads >= 4) { mine += tail[t + 2]; __syncwarp(); tail[t] = mine; __syncwarp(); }
    if (Threads >= 2) { mine += tail[t + 1]; __syncwarp(); tail[t] = mine; __syncwarp(); }
  }
  if (t == 0)
    v[blockIdx.x] = sums[0];
}

__device__ int sumOf(cg::thread_group g, int *temp, int value) {
  const int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    temp[lane] = value;
    g.sync();
    if (lane < i)
      value += temp[lane + i];
    g.sync();
  }
  return value;
}
__global__ void grouped(const int *u, int *v, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  extern __shared__ int temp[];
  auto g = cg::this_thread_block();
  const int sum = sumOf(g, temp, i < n ? u[i] : 0);
  if (g.thread_rank() == 0)
    v[blockIdx.x] = sum;
}

__global__ void keeps(const int *u, int *v, int n) {
  __shared__ int temp[128];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  int value = g < n ? u[g] : 0;
  for (int d = 1; d < 128; d *= 2) {
    temp[t] = value;
    __syncthreads();
    if (t >= d)
      value = max(value, temp[t - d] - 3);
    __syncthreads();
  }
  if (g < n)
    v[g] = value;
}

// Two arrays in one memory.
__global__ void halves(const float *u, float *v, int n) {
  extern __shared__ float others[];
  const unsigned t = threadIdx.x, g = blockIdx.x * 64 + t;
  pool[t] = g < n ? u[g] : 0.0f;
  __syncthreads();
  for (unsigned d = 32; d > 0; d /= 2) {
    if (t < d)
      others[t] = others[t] + pool[t + d];
    __syncthreads();
  }
  if (t == 0)
    v[blockIdx.x] = pool[0];
}

int main() {
  const int n = 1000;
  Buffer<int> x(randoms<int>(n)), o(n);
  Buffer<float> f(randoms<float>(n)), p(n);
  dynamic<<<blocks(n, 64), 64, 64 * sizeof(float)>>>(f.Data, p.Data, n);
  p.show("dynamic");
  fixed<<<blocks(n, 128), 128>>>(x.Data, o.Data, n);
  o.show("fixed");
  helped<<<blocks(n, 128), 128>>>(x.Data, o.Data, n);
  o.show("helped");
  converted<float><<<blocks(n, 128), 128, 128 * sizeof(float)>>>(f.Data, p.Data, n);
  p.show("converted float");
  converted<int><<<blocks(n, 128), 128, 128 * sizeof(int)>>>(x.Data, o.Data, n);
  o.show("converted int");
  Buffer<double> d(randoms<double>(n)), q(n);
  converted<double><<<blocks(n, 64), 64, 64 * sizeof(double)>>>(d.Data, q.Data, n);
  q.show("converted double");
  ladder<int, 256><<<blocks(n, 512), 256, 256 * sizeof(int)>>>(x.Data, o.Data, n);
  o.show("ladder");
  grouped<<<blocks(n, 128), 128, 128 * sizeof(int)>>>(x.Data, o.Data, n);
  o.show("grouped");
  keeps<<<blocks(n, 128), 128>>>(x.Data, o.Data, n);
  o.show("keeps");
  halves<<<blocks(n, 64), 64, 64 * sizeof(float)>>>(f.Data, p.Data, n);
  p.show("halves");
}
