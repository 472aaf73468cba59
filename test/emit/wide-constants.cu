// Sums of 64 bits whose parts are constants and 32-bit numbers: where they need not fit
// int, they are no int in the new kernel, or its launch asks. (Rows of 2^20 elements, of
// which a grid of 2049 has more than int counts; two addresses of one small array are as
// far apart as any two rows.)
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda -- -std=c++17 -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -std=c++17 -I%S/Inputs
// RUN: %nvcc -std=c++17 -I%S/Inputs -c %t.cu -o %t.o
#include <cstdio>
#include <cstddef>

constexpr size_t Row = 1 << 20;

// CHECK-DAG: rewrote 'rows'
// TEXT-LABEL: rows_rc(
// TEXT: 1048576 * (long long)blockIdx.y
__global__ void rows(const unsigned char *a, int *o, int n) {
  __shared__ int s[129];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? a[blockIdx.y * Row + g] : 0;
  if (t == 0)
    s[128] = g + 128 < n ? a[blockIdx.y * Row + g + 128] : 0;
  __syncthreads();
  if (g < n)
    o[blockIdx.y * n + g] = s[t] + 3 * s[t + 1];
}

// CHECK-DAG: rewrote 'stores'
// TEXT-LABEL: stores_rc(
// TEXT: 1048576 * (long long)blockIdx.y
__global__ void stores(const unsigned char *a, unsigned char *o, int n) {
  __shared__ int s[129];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
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

int main() {
  const int n = 300, rows_ = 2100;
  unsigned char *a, *o;
  int *r;
  // Only a few pages of each are ever met.
  cudaMalloc(&a, rows_ * Row);
  cudaMalloc(&o, rows_ * Row);
  cudaMalloc(&r, sizeof(int) * rows_ * n);
  unsigned char some[512];
  for (int i = 0; i < 512; ++i)
    some[i] = (unsigned char)(i * 7);
  for (int y : {0, 2050, 2099})
    cudaMemcpy(a + y * Row, some + y % 100, 400, cudaMemcpyHostToDevice);
  stores<<<dim3(3, rows_), 128>>>(a, o, n);
  unsigned char out[300];
  unsigned sum = 0;
  for (int y : {0, 2047, 2048, 2099}) {
    cudaMemcpy(out, o + y * Row, n, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i)
      sum = sum * 31 + out[i];
  }
  printf("%u\n", sum);
  float *f, *g;
  cudaMalloc(&f, 5 * 4096 * 4);
  cudaMalloc(&g, 5 * 4096 * 4);
  cudaMemset(f, 0x3f, 5 * 4096 * 4);
  blocks<<<dim3(3, 5), 128>>>(f, g, n);
  rows<<<dim3(3, 1), 128>>>(a, r, n);
  printf("%d\n", (int)cudaDeviceSynchronize());
}
