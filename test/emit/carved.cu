// One shared array that holds several, each behind a pointer: tiles of a product are
// staged once for the joined blocks, as where each tile has an array of its own.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff --device-code=clang %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH
// RUN: %if slow %{ rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH %}
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -ptx %t.cu -o %t.ptx %}
#include "program.h"
#include <cstdlib>

// CHECK-DAG: rewrote 'behind' {{.*}}'s_0' kept shared, staged once for several blocks; 's_1' kept shared, staged once for several blocks
// TEXT-LABEL: void behind{{_rc}}(
// TEXT-NOT: extern
// TEXT: float rc_s_0_tile[
__global__ void behind(const float *a, const float *b, float *c, int n) {
  extern __shared__ float s[];
  float *A = s;
  float *B = s + 16 * 16;
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty,
            col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int p = 0; p < n / 16; ++p) {
    A[ty * 16 + tx] = a[row * n + p * 16 + tx];
    B[ty * 16 + tx] = b[(p * 16 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += A[ty * 16 + k] * B[k * 16 + tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// In the other order, with an address, in an array of known size.
// CHECK-DAG: rewrote 'addresses' {{.*}}'s_0' kept shared, staged once for several blocks; 's_1' kept shared, staged once for several blocks
__global__ void addresses(const float *a, const float *b, float *c, int n) {
  __shared__ float s[600];
  float *const A = &s[300], *B = &s[8];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty,
            col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int p = 0; p < n / 16; ++p) {
    A[ty * 16 + tx] = a[row * n + p * 16 + tx];
    B[ty * 16 + tx] = b[(p * 16 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += A[ty * 16 + k] * B[k * 16 + tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// From pointer to pointer; elements between them that nobody uses.
// CHECK-DAG: rewrote 'chain' {{.*}}'s_0' kept shared, staged once for several blocks; 's_1' kept shared, staged once for several blocks
__global__ void chain(const float *a, const float *b, float *c, int n) {
  extern __shared__ float s[];
  float *head = s + 4;
  float *A = head + 16 * 2;
  float *B = A + 16 * 17 - 3;
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty,
            col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int p = 0; p < n / 16; ++p) {
    A[ty * 16 + tx] = a[row * n + p * 16 + tx];
    B[ty * 16 + tx] = b[(p * 16 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += A[ty * 16 + k] * B[k * 16 + tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// The array's own name beside a pointer; declared outside of the kernel.
// CHECK-DAG: rewrote 'ownName' {{.*}}'pool_0' kept shared, staged once for several blocks; 'pool_1' kept shared, staged once for several blocks
extern __shared__ float pool[];
__global__ void ownName(const float *a, const float *b, float *c, int n) {
  float *B = pool + 256;
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty,
            col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int p = 0; p < n / 16; ++p) {
    pool[ty * 16 + tx] = a[row * n + p * 16 + tx];
    B[ty * 16 + tx] = b[(p * 16 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += pool[ty * 16 + k] * B[k * 16 + tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// How wide tiles are is an argument, to which all launches give one value.
// CHECK-DAG: rewrote 'byArgument' {{.*}}'s_0' kept shared, staged once for several blocks; 's_1' kept shared, staged once for several blocks
// CHECK-DAG: note: launches that pass tile = 16 run the rewritten kernel
__global__ void byArgument(const float *a, const float *b, float *c, int n, int tile) {
  extern __shared__ float s[];
  float *A = s, *B = s + tile * tile;
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * tile + ty,
            col = blockIdx.x * tile + tx;
  float sum = 0;
  for (int p = 0; p < n / tile; ++p) {
    A[ty * tile + tx] = a[row * n + p * tile + tx];
    B[ty * tile + tx] = b[(p * tile + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < tile; ++k)
      sum += A[ty * tile + k] * B[k * tile + tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// One part reaches into the other, a pointer that moves, an address that is used
// for more: one array, as before.
// CHECK-NOT: 'meets_0'
// CHECK-NOT: 'moves_0'
// CHECK-NOT: 'differs_0'
__global__ void overlaps(const float *a, const float *b, float *c, int n) {
  extern __shared__ float meets[];
  float *A = meets, *B = meets + 256;
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty,
            col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int p = 0; p < n / 16; ++p) {
    A[ty * 16 + tx] = a[row * n + p * 16 + tx];
    B[ty * 16 + tx] = b[(p * 16 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += A[ty * 16 + k] * A[256 + k * 16 + tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}
__global__ void moved(const float *a, const float *b, float *c, int n) {
  extern __shared__ float moves[];
  float *A = moves, *B = moves;
  B += 256;
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty,
            col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int p = 0; p < n / 16; ++p) {
    A[ty * 16 + tx] = a[row * n + p * 16 + tx];
    B[ty * 16 + tx] = b[(p * 16 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += A[ty * 16 + k] * B[k * 16 + tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}
__global__ void compared(const float *a, const float *b, float *c, int n) {
  extern __shared__ float differs[];
  float *A = differs, *B = differs + 256;
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty,
            col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int p = 0; p < n / 16; ++p) {
    A[ty * 16 + tx] = a[row * n + p * 16 + tx];
    B[ty * 16 + tx] = b[(p * 16 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += A[ty * 16 + k] * B[k * 16 + tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
  if (B - A != 256)
    c[0] = 0;
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 48;
  const Buffer<float> a(randoms<float>(n * n)), b(randoms<float>(n * n));
  Buffer<float> c(n * n);
  const dim3 grid(n / 16, n / 16), block(16, 16);
  const auto show = [&](const char *name) {
    c.show(name, n, n);
    cudaMemset(c.Data, 0, n * n * sizeof(float));
  };
  behind<<<grid, block, 2048>>>(a.Data, b.Data, c.Data, n), show("behind");
  addresses<<<grid, block>>>(a.Data, b.Data, c.Data, n), show("addresses");
  chain<<<grid, block, 4096>>>(a.Data, b.Data, c.Data, n), show("chain");
  ownName<<<grid, block, 2048>>>(a.Data, b.Data, c.Data, n), show("ownName");
  const int tile = 16;
  byArgument<<<dim3(n / tile, n / tile), dim3(tile, tile), 2 * tile * tile * 4>>>(
      a.Data, b.Data, c.Data, n, tile);
  show("byArgument");
  overlaps<<<grid, block, 2048>>>(a.Data, b.Data, c.Data, n), show("overlaps");
  moved<<<grid, block, 2048>>>(a.Data, b.Data, c.Data, n), show("moved");
  compared<<<grid, block, 2048>>>(a.Data, b.Data, c.Data, n), show("compared");
}
