// Joined blocks in a loop over matrices that is cut: what later rounds read or store
// may be what earlier ones stored, unless the launch finds that it is not.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu --no-races --no-uninit -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
// RUN: %if slow %{ %nvcc -std=c++17 -Werror all-warnings -I%S/Inputs -ptx %t.cu -o %t.ptx %}
//
// CHECK-DAG: rewrote 'chain' {{.*}}staged once for several blocks
// CHECK-DAG: rewrote 'both' {{.*}}staged once for several blocks
// TEXT-DAG: ::rcache::device::separate(A, C
// TEXT-DAG: ::rcache::device::separate(B, C
// TEXT-DAG: ::rcache::device::separate(C, E
// SAME: equivalent: 4 launches {{.*}}; 2 by a rewritten kernel
#include "program.h"
#define T 16

__global__ void chain(const float *A, const float *B, float *C, int n, int nb) {
  const int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * T + ty, c = blockIdx.x * T + tx;
  __shared__ float as[T][T], bs[T][T];
  for (int b = 0; b < nb; ++b) {
    float acc = 0;
    for (int k0 = 0; k0 < n; k0 += T) {
      as[ty][tx] = A[(b * n + r) * n + k0 + tx];
      bs[ty][tx] = B[(k0 + ty) * n + c];
      __syncthreads();
      for (int k = 0; k < T; ++k)
        acc += as[ty][k] * bs[k][tx];
      __syncthreads();
    }
    C[(b * n + r) * n + c] = acc;
  }
}

__global__ void both(const float *A, const float *B, float *C, float *E, int n, int nb) {
  const int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * T + ty, c = blockIdx.x * T + tx;
  __shared__ float as[T][T], bs[T][T];
  for (int b = 0; b < nb; ++b) {
    float acc = 0;
    for (int k0 = 0; k0 < n; k0 += T) {
      as[ty][tx] = A[(b * n + r) * n + k0 + tx];
      bs[ty][tx] = B[(k0 + ty) * n + c];
      __syncthreads();
      for (int k = 0; k < T; ++k)
        acc += as[ty][k] * bs[k][tx];
      __syncthreads();
    }
    C[(b * n + r) * n + c] = acc;
    E[(b * n + r) * n + c] = -acc;
  }
}

int main(int argc, char **) {
  const int nb = 20;
  {
    const int n = argc > 5 ? 4096 : T, e = n * n; // each thread reads what it stored
    Buffer<float> a(randoms<float>((nb + 1) * e)), b(randoms<float>(e)), c(nb * e);
    chain<<<dim3(n / T, n / T), dim3(T, T)>>>(a.Data, b.Data, a.Data + e, n, nb);
    a.show("chain, one after the other", (nb + 1) * e);
    both<<<dim3(n / T, n / T), dim3(T, T)>>>(a.Data, b.Data, c.Data, c.Data + e, n, nb - 1);
    c.show("both, one upon the other", nb * e);
  }
  const int n = argc > 5 ? 4096 : 8 * T, e = n * n;
  Buffer<float> a(randoms<float>(nb * e)), b(randoms<float>(e)), c(nb * e), d(nb * e);
  chain<<<dim3(n / T, n / T), dim3(T, T)>>>(a.Data, b.Data, c.Data, n, nb);
  c.show("chain, apart", nb * e);
  both<<<dim3(n / T, n / T), dim3(T, T)>>>(a.Data, b.Data, c.Data, d.Data, n, nb);
  d.show("both, apart", nb * e);
}
