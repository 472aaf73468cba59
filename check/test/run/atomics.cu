// REQUIRES: cuda-toolkit
// RUN: %check run %s | FileCheck %s
// RUN: %check run %s --schedule=reverse | FileCheck %s
// RUN: %check run %s --schedule=random:7 | FileCheck %s
// Atomic operations on global and shared memory, 32 and 64 bits.
#include <cstdio>

__device__ unsigned counter;
__global__ void atomics(int *o, unsigned long long *l, float *f, double *g) {
  __shared__ int s[4];
  if (threadIdx.x < 4)
    s[threadIdx.x] = 0;
  __syncthreads();
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&s[t & 3], 1);
  atomicAdd(&o[0], t);
  atomicSub(&o[1], 1);
  atomicMax(&o[2], t);
  atomicMin(&o[3], -t);
  atomicAnd(&o[4], ~(1 << (t & 31)));
  atomicOr(&o[5], 1 << (t & 7));
  atomicXor(&o[6], t);
  atomicInc((unsigned *)&o[7], 9);
  atomicDec((unsigned *)&o[8], 9);
  atomicAdd(l, 1ull << 33);
  atomicMax(l + 1, (unsigned long long)t << 34);
  atomicAdd(f, 1.0f);
  atomicAdd(g, 0.5);
  int old = o[9], seen;
  do { // a maximum through compare and swap
    seen = old;
    old = atomicCAS(&o[9], seen, seen > t ? seen : t);
  } while (old != seen);
  atomicInc(&counter, 0xffffffff);
  __syncthreads();
  if (threadIdx.x < 4)
    atomicAdd(&o[10], s[threadIdx.x]);
  if (t == 5)
    atomicExch(&o[11], 42);
}

__global__ void spinLock(int *lock, int *value) {
  for (bool done = false; !done;)
    if (atomicCAS(lock, 0, 1) == 0) {
      *(volatile int *)value += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
}

int main() {
  int *o, h[12];
  unsigned long long *l, hl[2];
  float *f, hf;
  double *g, hg;
  cudaMalloc(&o, sizeof(h));
  cudaMalloc(&l, 16);
  cudaMalloc(&f, 4);
  cudaMalloc(&g, 8);
  cudaMemset(o, 0, sizeof(h));
  cudaMemset(l, 0, 16);
  cudaMemset(f, 0, 4);
  cudaMemset(g, 0, 8);
  atomics<<<4, 64>>>(o, l, f, g);
  cudaMemcpy(h, o, sizeof(h), cudaMemcpyDeviceToHost);
  cudaMemcpy(hl, l, 16, cudaMemcpyDeviceToHost);
  cudaMemcpy(&hf, f, 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(&hg, g, 8, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 12; ++i)
    printf("%d ", h[i]);
  unsigned c;
  cudaMemcpyFromSymbol(&c, counter, 4);
  printf("%llu %llu %g %g %u\n", hl[0] >> 33, hl[1] >> 34, hf, hg, c);
  // CHECK: 32640 -256 255 -255 0 255 0 6 4 255 256 42 256 255 256 128 256
  cudaMemset(o, 0, 8);
  spinLock<<<2, 48>>>(o, o + 1);
  cudaMemcpy(h, o, 8, cudaMemcpyDeviceToHost);
  printf("lock: %d\n", h[1]);
  // CHECK: lock: 96
}
