// REQUIRES: cuda-toolkit
// RUN: %check run %s --args one two | FileCheck %s
// The runtime API that samples use.
#include <cstdio>
#include <cstring>
#include <vector>

__constant__ float weights[8] = {1, 2, 3};
__device__ int table[2][3] = {{1, 2, 3}, {4, 5, 6}};
__device__ int *indirect = &table[1][1];
__device__ int offset = 5;

__global__ void read(float *o) {
  o[0] = weights[threadIdx.x + 1];
  o[1] = *indirect + offset;
  table[0][0] = 77;
}
__global__ void fill(char *p, size_t pitch, int w, int h) {
  int x = threadIdx.x, y = blockIdx.x;
  if (x < w && y < h)
    p[y * pitch + x] = x + y;
}
struct Big {
  double a;
  char c;
  float v[5];
};
__global__ void byValue(Big b, double *o) { *o = b.a + b.c + b.v[4]; }
__global__ void launchBounds() {}

int main(int argc, char **argv) {
  printf("%d %s %s\n", argc, argv[1], argv[2]);
  // CHECK: 3 one two
  float *o, h[2];
  cudaMalloc(&o, 8);
  float w = 9;
  cudaMemcpyToSymbol(weights, &w, 4, 4);
  read<<<1, 1>>>(o);
  cudaMemcpy(h, o, 8, cudaMemcpyDeviceToHost);
  int t[6];
  cudaMemcpyFromSymbol(t, table, sizeof(t));
  printf("%g %g %d %d\n", h[0], h[1], t[0], t[5]);
  // CHECK: 9 10 77 6
  void *address;
  size_t size;
  cudaGetSymbolAddress(&address, weights);
  cudaGetSymbolSize(&size, weights);
  printf("%zu\n", size);
  // CHECK: 32

  char *p, back[30];
  size_t pitch;
  cudaMallocPitch((void **)&p, &pitch, 10, 3);
  fill<<<3, 32>>>(p, pitch, 10, 3);
  cudaMemcpy2D(back, 10, p, pitch, 10, 3, cudaMemcpyDeviceToHost);
  printf("%d %d %d\n", pitch >= 10, back[9], back[29]);
  // CHECK: 1 9 11

  cudaStream_t s;
  cudaEvent_t a, b;
  cudaStreamCreate(&s);
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  cudaEventRecord(a, s);
  double *d, r;
  cudaMallocAsync(&d, 8, s);
  Big big{1.5, 2, {0, 0, 0, 0, 4}};
  byValue<<<1, 1, 0, s>>>(big, d);
  cudaMemcpyAsync(&r, d, 8, cudaMemcpyDeviceToHost, s);
  cudaEventRecord(b, s);
  cudaStreamSynchronize(s);
  float ms = -1;
  cudaEventElapsedTime(&ms, a, b);
  printf("%g %d\n", r, ms >= 0);
  // CHECK: 7.5 1

  cudaDeviceProp prop;
  cudaGetDeviceProperties(&prop, 0);
  int n;
  cudaGetDeviceCount(&n);
  printf("%d %d %d %d\n", n, prop.warpSize, prop.major, prop.maxThreadsPerBlock);
  // CHECK: 1 32 9 1024
  int blocks;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, launchBounds, 256, 0);
  printf("%d\n", blocks);
  // CHECK: 8
  launchBounds<<<1, 2000>>>();
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  // CHECK: cudaErrorInvalidValue
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  // CHECK: no error
  void *args[] = {&big, &d};
  cudaLaunchKernel((const void *)byValue, dim3(1), dim3(1), args, 0, 0);
  int *m;
  cudaMallocManaged(&m, 400);
  m[99] = 3;
  float *pinned;
  cudaMallocHost(&pinned, 64);
  cudaMemset(o, 0, 8);
  size_t free, total;
  printf("%d\n", cudaMemGetInfo(&free, &total) == cudaSuccess && free > 0);
  // CHECK: 1
  char id[16];
  int device = -1, found = cudaDeviceGetPCIBusId(id, 16, 0) || cudaDeviceGetByPCIBusId(&device, id);
  printf("%d %d %d\n", found, device, cudaDeviceGetPCIBusId(id, 4, 0));
  // CHECK: 0 0 1
  cudaPitchedPtr volume;
  cudaMalloc3D(&volume, make_cudaExtent(8, 3, 2));
  cudaMemset3DAsync(volume, 0, make_cudaExtent(8, 3, 2), s);
  cudaMemset3DAsync(volume, 5, make_cudaExtent(4, 2, 1), s);
  cudaMemcpy3DParms box = {};
  int cells[12];
  box.srcPtr = volume;
  box.dstPtr = make_cudaPitchedPtr(cells, 8, 8, 3);
  box.extent = make_cudaExtent(8, 3, 2);
  box.kind = cudaMemcpyDeviceToHost;
  cudaMemcpy3DAsync(&box, s);
  printf("%x %x %x %x %x\n", cells[0], cells[1], cells[2], cells[4], cells[6]);
  // CHECK: 5050505 0 5050505 0 0
  printf("%s\n", cudaGetErrorString(cudaFree((char *)o + 4)));
  // CHECK: invalid argument
  return cudaFree(o) != cudaSuccess;
}
