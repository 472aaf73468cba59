// Shared arrays of the file that a kernel sees through a pointer to const: what stands for
// them is written.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --self-check=off -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
#include "buffers.h"

__shared__ int fixed[258];
extern __shared__ int open[];
__shared__ float flat[2][66];

// TEXT-NOT: const {{int|float}} rc_{{.*}}_w[
// CHECK-DAG: rewrote 'throughFixed'
__global__ void throughFixed(const int *a, int *b, int n) {
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;
  fixed[l] = g < n ? a[g] : 0;
  if (l < 2)
    fixed[l + 256] = g + 256 < n ? a[g + 256] : 0;
  __syncthreads();
  const int *p = fixed;
  if (g < n)
    b[g] = p[l] - 3 * p[l + 1] + p[l + 2];
}

// CHECK-DAG: rewrote 'throughOpen'
__global__ void throughOpen(const int *a, int *b, int n) {
  const int l = threadIdx.x, g = blockIdx.x * 256 + l;
  open[l] = g < n ? a[g] : 0;
  if (l < 2)
    open[l + 256] = g + 256 < n ? a[g + 256] : 0;
  __syncthreads();
  int const *const p = open + l;
  if (g < n)
    b[g] = p[0] - 3 * p[1] + p[2];
}

// CHECK-DAG: rewrote 'throughRow'
__global__ void throughRow(const float *a, float *b, int n) {
  const int l = threadIdx.x, g = blockIdx.x * 64 + l;
  flat[0][l] = g < n ? a[g] : 0.f;
  flat[1][l] = g < n ? a[n - 1 - g] : 0.f;
  __syncthreads();
  const float *p = flat[0], *q = flat[1];
  if (g < n)
    b[g] = p[l] - q[l];
}

int main() {
  const int n = 1000;
  Buf<int> a(n, 1), b(n, 2);
  Buf<float> x(n, 3), y(n, 4);
  throughFixed<<<4, 256>>>(a.d, b.d, n);
  throughOpen<<<4, 256, 258 * sizeof(int)>>>(a.d, b.d, n);
  throughRow<<<16, 64>>>(x.d, y.d, n);
}
