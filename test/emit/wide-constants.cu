// Sums of 64 bits whose parts are constants and 32-bit numbers: where they need not fit
// int, they are no int in the new kernel, or its launch asks. (Of the rows, only the third
// is there, which begins where int ends.)
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda -- -std=c++17 -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -std=c++17 -I%S/Inputs
#include <cstdio>
#include <cstddef>

constexpr size_t Row = 1 << 30;

// CHECK-DAG: rewrote 'rows'
// TEXT-LABEL: rows_rc(
// TEXT: 1073741824 * (long long)blockIdx.y
__global__ void rows(const unsigned char *a, int *o, int n) {
  __shared__ int s[129];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  if (blockIdx.y < 2)
    return;
  s[t] = g < n ? a[blockIdx.y * Row + g] : 0;
  if (t == 0)
    s[128] = g + 128 < n ? a[blockIdx.y * Row + g + 128] : 0;
  __syncthreads();
  if (g < n)
    o[g] = s[t] + 3 * s[t + 1];
}

// CHECK-DAG: rewrote 'stores'
// TEXT-LABEL: stores_rc(
// TEXT: 1073741824 * (long long)blockIdx.y
__global__ void stores(const unsigned char *a, unsigned char *o, int n) {
  __shared__ int s[129];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  if (blockIdx.y < 2)
    return;
  s[t] = g < n ? a[g] : 0;
  if (t == 0)
    s[128] = g + 128 < n ? a[g + 128] : 0;
  __syncthreads();
  unsigned char *const at = o + blockIdx.y * Row;
  if (g < n)
    at[g] = (unsigned char)(s[t] + 3 * s[t + 1]);
}

// A block has few elements here, which fit in most launches: those are asked.
// CHECK-DAG: rewrote 'blocks'
// TEXT-LABEL: launch_blocks_rc
// TEXT: 4096.0 * (double)rc_grid.y{{.*}} <= 2147483647.0
__global__ void blocks(const float *__restrict__ a, float *__restrict__ o, int n) {
  __shared__ float s[129];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[(size_t)blockIdx.y * 4096 + g] : 0;
  if (t == 0)
    s[128] = g + 128 < n ? a[(size_t)blockIdx.y * 4096 + g + 128] : 0;
  __syncthreads();
  if (g < n)
    o[(size_t)blockIdx.y * 4096 + g] = s[t] - s[t + 1];
}

// Rows behind a pointer are as far apart as their type says.
// CHECK-DAG: rewrote 'behind'
// TEXT-LABEL: behind_rc(
// TEXT: 1073741824 * (long long)blockIdx.y
__global__ void behind(const unsigned char (*a)[Row], int *o, int n) {
  __shared__ int s[129];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  if (blockIdx.y < 2)
    return;
  s[t] = g < n ? a[blockIdx.y][g] : 0;
  if (t == 0)
    s[128] = g + 128 < n ? a[blockIdx.y][g + 128] : 0;
  __syncthreads();
  if (g < n)
    o[g] = s[t] + 3 * s[t + 1];
}

int main() {
  const int n = 300;
  unsigned char *a, *o, some[512];
  int *r;
  float *f, *g;
  cudaMalloc(&a, 512);
  cudaMalloc(&o, 512);
  cudaMalloc(&r, 512 * sizeof(int));
  cudaMalloc(&f, 5 * 4096 * 4);
  cudaMalloc(&g, 5 * 4096 * 4);
  for (int i = 0; i < 512; ++i)
    some[i] = (unsigned char)(i * 7);
  cudaMemcpy(a, some, 512, cudaMemcpyHostToDevice);
  cudaMemset(o, 0, 512);
  cudaMemset(r, 0, 512 * sizeof(int));
  cudaMemset(f, 0x3f, 5 * 4096 * 4);
  rows<<<dim3(3, 3), 128>>>(a - 2 * Row, r, n);
  behind<<<dim3(3, 3), 128>>>((const unsigned char (*)[Row])(a - 2 * Row), r, n);
  stores<<<dim3(3, 3), 128>>>(a, o - 2 * Row, n);
  blocks<<<dim3(3, 5), 128>>>(f, g, n);
  printf("%d\n", (int)cudaDeviceSynchronize());
}
