// Kernels that are declared first, launched, and defined behind: the launch function is
// declared with them, where types have one name everywhere.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -DRCACHE_ANY_LAUNCH
// RUN: %compile -std=c++17 -Xcompiler -Wall -c %t.cu -o %t.o 2>&1 | FileCheck --check-prefix=NVCC --allow-empty %s
// NVCC-NOT: warning
//
// CHECK-DAG: rewrote 'flow::later' (2 launches)
// CHECK-DAG: rewrote 'twice' (1 launch)
// CHECK-DAG: rewrote 'aliased' (1 launch)
// CHECK-DAG: 'ofStruct' left as it is: {{.*}}it stands in front of the kernel's definition
// CHECK-DAG: 'byDefault' left as it is: {{.*}}it stands in front of the kernel's definition
// CHECK-DAG: note: move the kernel's definition in front of the launch
// TEXT: static inline void later{{_rc}}_launch(dim3, dim3, size_t, cudaStream_t,
// TEXT-NEXT: const float *, float *, int);
#include <cstdio>
namespace flow {
__global__ void later(const float *a, float *b, int n);
__global__ void never(const float *, float *, int);

void go(const float *a, float *b, int n) { later<<<(n + 63) / 64, 64>>>(a, b, n); }
} // namespace flow

__global__ void twice(int *out, const int *__restrict__ in, unsigned n);
using real = double;
__global__ void aliased(const real *a, real *b, int n);

__global__ void byDefault(const float *a, float *b, int n = 900);
__global__ void overloaded(const float *a, float *b);
__global__ void overloaded(const int *a, int *b);
struct Pair { int a, b; };
__global__ void ofStruct(const Pair *a, Pair *b);

int main() {
  float *a, *b;
  int n = 5000;
  cudaMalloc(&a, n * 8); cudaMalloc(&b, n * 8);
  cudaMemset(a, 1, n * 8);
  flow::go(a, b, n);
  flow::later<<<(n + 63) / 64, 64>>>(b, a, n);
  twice<<<(n + 127) / 128, 128>>>((int *)b, (const int *)a, n);
  aliased<<<(n + 127) / 128, 128>>>((real *)a, (real *)b, n);
  byDefault<<<14, 64>>>(a, b);
  overloaded<<<14, 64>>>(a, b);
  overloaded<<<14, 64>>>((const int *)a, (int *)b);
  ofStruct<<<1, 64>>>((Pair *)a, (Pair *)b);
  printf("%d\n", (int)cudaDeviceSynchronize());
}

namespace flow {
__global__ void later(const float *a, float *b, int n) {
  __shared__ float s[66]; const int base = blockIdx.x * 64;
  for (int q = threadIdx.x; q < 66; q += 64) s[q] = base + q < n ? a[base + q] : 0;
  __syncthreads();
  int g = base + threadIdx.x;
  if (g < n) b[g] = s[threadIdx.x] + s[threadIdx.x + 1] - s[threadIdx.x + 2];
}
}
__global__ void twice(int *out, const int *__restrict__ in, unsigned n) {
  __shared__ int s[130]; const unsigned base = blockIdx.x * 128;
  for (unsigned q = threadIdx.x; q < 130; q += 128) s[q] = base + q < n ? in[base + q] : 0;
  __syncthreads();
  unsigned g = base + threadIdx.x;
  if (g < n) out[g] = s[threadIdx.x] + s[threadIdx.x + 1] - s[threadIdx.x + 2];
}
__global__ void aliased(const real *a, real *b, int n) {
  __shared__ real s[130]; const int base = blockIdx.x * 128;
  for (int q = threadIdx.x; q < 130; q += 128) s[q] = base + q < n ? a[base + q] : 0;
  __syncthreads();
  int g = base + threadIdx.x;
  if (g < n) b[g] = s[threadIdx.x] + s[threadIdx.x + 1] - s[threadIdx.x + 2];
}
__global__ void ofStruct(const Pair *a, Pair *b) {
  __shared__ Pair s[66];
  for (int q = threadIdx.x; q < 66; q += 64)
    s[q] = a[blockIdx.x * 64 + q];
  __syncthreads();
  b[blockIdx.x * 64 + threadIdx.x] = {s[threadIdx.x].a, s[threadIdx.x + 2].b};
}
__global__ void byDefault(const float *a, float *b, int n) {
  __shared__ float s[66];
  for (int q = threadIdx.x; q < 66; q += 64)
    s[q] = a[blockIdx.x * 64 + q];
  __syncthreads();
  int g = blockIdx.x * 64 + threadIdx.x;
  if (g < n)
    b[g] = s[threadIdx.x] + s[threadIdx.x + 2];
}
__global__ void overloaded(const float *a, float *b) {
  __shared__ float s[66];
  for (int q = threadIdx.x; q < 66; q += 64)
    s[q] = a[blockIdx.x * 64 + q];
  __syncthreads();
  b[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 2];
}
__global__ void overloaded(const int *a, int *b) {
  __shared__ int s[66];
  for (int q = threadIdx.x; q < 66; q += 64)
    s[q] = a[blockIdx.x * 64 + q];
  __syncthreads();
  b[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x] - s[threadIdx.x + 2];
}
