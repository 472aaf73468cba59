// An array by its type's name has no extents of its own, and others keep theirs as
// they are written.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda 2>&1 | FileCheck %s --check-prefix=SAYS
// RUN: FileCheck %s --input-file=%t.cu
// RUN: rcache-check diff %s %t.cu
//
// SAYS: rewrote 'counts' (1 launch): 'h' of each thread in shared memory
// SAYS: rewrote 'table<4>' (1 launch): 'h' of each thread in shared memory
#include <cstdio>

typedef int Row[8];
// CHECK-LABEL: counts_rc(
// CHECK: __shared__ int h[8][128];
__global__ void counts(const int *in, int *out) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  Row h = {};
  for (int i = 0; i < 9; ++i)
    h[(in[g] >> i) & 7] += i;
  out[g] = h[in[g] & 7];
}
// CHECK-LABEL: table_rc(
// CHECK: constexpr int N = 2 * R;
// CHECK: __shared__ int h[N][R + 1][128];
template <int R> __global__ void table(const int *in, int *out) {
  constexpr int N = 2 * R;
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  int h[N][R + 1] = {{3}};
  for (int i = 0; i < 9; ++i)
    h[(in[g] >> i) & 7][i % (R + 1)] += i;
  out[g] = h[in[g] & 7][in[g] % 3];
}

int main() {
  int *in, *out;
  cudaMallocManaged(&in, 512 * 4);
  cudaMallocManaged(&out, 512 * 4);
  for (int i = 0; i < 512; ++i)
    in[i] = i * 2654435;
  counts<<<4, 128>>>(in, out);
  table<4><<<4, 128>>>(in, out);
  cudaDeviceSynchronize();
}
