// Macros of the command line that the toolkit's own headers have other uses for: nvcc
// reads fewer of these.
// REQUIRES: cuda-toolkit, rcache-check
// RUN: %compile -std=c++17 -DN=1024 -DM=64 -DK=3 -Dl=2 -Dreal=float -D D=1 -c %s -o %t.o
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda -- -DN=1024 -DM=64 -DK=3 -Dl=2 -Dreal=float -D D=1 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -DN=1024 -DM=64 -DK=3 -Dl=2 -Dreal=float -D D=1
// RUN: rcache-check diff %s %t.cu --device-code=clang -- -DN=1024 -DM=64 -DK=3 -Dl=2 -Dreal=float -D D=1
// RUN: %compile -std=c++17 -DN=1024 -DM=64 -DK=3 -Dl=2 -Dreal=float -D D=1 -c %t.cu -o %t.o
// CHECK: rewrote 'k'
// CHECK-NOT: not executed
__global__ void k(const real *a, real *b) {
  __shared__ real s[M + K];
  s[threadIdx.x] = a[blockIdx.x * M + threadIdx.x];
  if (threadIdx.x < K)
    s[M + threadIdx.x] = a[blockIdx.x * M + M + threadIdx.x];
  __syncthreads();
  b[blockIdx.x * M + threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + l] * D + s[threadIdx.x + K];
}
int main() {
  real *a, *b;
  cudaMalloc(&a, (N + K) * sizeof(real));
  cudaMalloc(&b, N * sizeof(real));
  cudaMemset(a, 1, (N + K) * sizeof(real));
  k<<<N / M, M>>>(a, b);
  cudaDeviceSynchronize();
}
