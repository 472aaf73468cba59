// Private arrays in dynamic shared memory behind what the kernel has there itself: an
// array by its name, one that a function of the kernel's has, one of a template; the launch
// tells how much that is. A launch that asks for memory of which the kernel names nothing
// runs the original.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --only=private -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
//
// CHECK-DAG: rewrote 'large' {{.*}}'b' of each thread in shared memory, 12800 bytes a warp
// CHECK-DAG: rewrote 'typed<int>' {{.*}}'b' of each thread in shared memory, 14336 bytes a warp
// CHECK-DAG: rewrote 'hidden' {{.*}}'b' of each thread in shared memory, 15360 bytes a warp
// CHECK-DAG: rewrote 'bare' {{.*}}'b' of each thread in shared memory, 15360 bytes a warp
// TEXT-LABEL: void large_rc(
// TEXT: const unsigned int rc_own
// TEXT: unsigned char *const rc_warp = rc_memory + rc_own + threadIdx.x / 32 * 12800;
// TEXT: extern __shared__ int tile[];
// TEXT: (rc_shared + 15u) / 16u * 16u + size_t(128u + 31u) / 32u * 12800u
// TEXT-LABEL: void bare_rc(
// TEXT: rc_shared == 0
// SAME: equivalent: 5 launches compared, {{.*}} 4 by a rewritten kernel
#include "program.h"

__global__ void large(const int *x, int *out, int n, int w) {
  extern __shared__ int tile[];
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int b[100] = {};
  for (int i = threadIdx.x; i < w; i += blockDim.x)
    tile[i] = x[i + blockIdx.x];
  __syncthreads();
  for (int i = 0; i < 32; ++i)
    b[tile[(threadIdx.x + i) % w] % 100u] += i;
  int s = 0;
  for (int i = 0; i < 100; ++i)
    s = s * 31 + b[i];
  out[t] = s;
}

template <class T> __global__ void typed(const T *x, T *out, int n) {
  extern __shared__ unsigned char raw[];
  T *tile = (T *)raw;
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  T b[112];
  for (int i = 0; i < 112; ++i)
    b[i] = 0;
  tile[threadIdx.x] = x[t];
  __syncthreads();
  for (int i = 0; i < 32; ++i)
    b[unsigned(tile[(threadIdx.x + i) % blockDim.x]) % 112u] += i;
  T s = 0;
  for (int i = 0; i < 112; ++i)
    s = s * 31 + b[i];
  out[t] = s;
}

__device__ int partner(const int *x, int t) {
  extern __shared__ int mine[];
  mine[threadIdx.x] = x[t];
  __syncthreads();
  const int r = mine[threadIdx.x ^ 1];
  __syncthreads();
  return r;
}
__global__ void hidden(const int *x, int *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int b[120] = {};
  for (int i = 0; i < 32; ++i)
    b[x[t + i] % 120u] += i;
  int s = partner(x, t);
  for (int i = 0; i < 120; ++i)
    s = s * 31 + b[i];
  out[t] = s;
}

__global__ void bare(const int *x, int *out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int b[120] = {};
  for (int i = 0; i < 32; ++i)
    b[x[t + i] % 120u] += i;
  int s = 0;
  for (int i = 0; i < 120; ++i)
    s = s * 31 + b[i];
  out[t] = s;
}

int main() {
  const int n = 512;
  const Buffer<int> x(randoms<int>(n + 300)), o(n);
  large<<<n / 128, 128, 257 * sizeof(int)>>>(x.Data, o.Data, n, 257);
  o.show("large", n);
  typed<int><<<n / 128, 128, 128 * sizeof(int)>>>(x.Data, o.Data, n);
  o.show("typed", n);
  hidden<<<n / 128, 128, 512>>>(x.Data, o.Data, n);
  o.show("hidden", n);
  bare<<<n / 128, 128>>>(x.Data, o.Data, n);
  o.show("bare", n);
  bare<<<n / 128, 128, 512>>>(x.Data, o.Data, n);
  o.show("bare", n);
}
