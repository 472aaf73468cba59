// Where launches have blocks of several sizes, or of one that only they know, each size has a
// kernel of its own, and the launch picks it.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %s -o %t.one.cu --force --block=128 -- -I%S/Inputs 2> /dev/null
// RUN: FileCheck %s --check-prefix=ONE < %t.one.cu
// ONE-NOT: {{_rc}}_block
#include "program.h"

// CHECK-DAG: rewrote 'total'
// CHECK-DAG: note: blocks of 128 threads: {{.*}}'s' owned by a warp
// CHECK-DAG: note: blocks of 512 threads: {{.*}}'s' owned by a warp
// TEXT-DAG: total{{_rc}}_block512<<<
__global__ void total(const float *in, float *out, int n) {
  extern __shared__ float s[];
  const int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  s[t] = g < n ? in[g] : 0.f;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// Sizes that the file shows; the last one is larger than the array.
// CHECK-DAG: rewrote 'prefix<int>'
template <typename T>
__global__ void prefix(const T *in, T *out, int n) {
  __shared__ T a[512];
  const int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  a[t] = g < n ? in[g] : T(0);
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    T x = 0;
    if (t >= d)
      x = a[t - d];
    __syncthreads();
    a[t] += x;
    __syncthreads();
  }
  if (g < n)
    out[g] = a[t];
}

template <typename T> void prefixes(int n, int threads) {
  Buffer<T> in(randoms<T>(n)), out(n);
  prefix<T><<<blocks(n, threads), threads>>>(in.Data, out.Data, n);
  out.show("prefix", threads);
}

int main() {
  const int N = 5000;
  for (int threads : {32, 64, 96, 128, 192, 256, 512, 1024}) {
    Buffer<float> in(randoms<float>(N)), out(blocks(N, threads));
    total<<<blocks(N, threads), threads, threads * sizeof(float)>>>(in.Data, out.Data, N);
    out.show("total", threads);
  }
  for (int threads = 64; threads <= 512; threads *= 2) {
    prefixes<int>(N, threads);
    prefixes<double>(N, threads);
  }
}
