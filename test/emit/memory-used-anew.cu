// One buffer as two types: __half holds an unsigned short, and memory that is used
// anew holds anything. Types do not tell what overlaps.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck --input-file=%t.remarks %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// CHECK-DAG: rewrote 'k'
// CHECK-DAG: rewrote 'f'
//
#include "sum3.h"
#include <cuda_fp16.h>
__global__ void k(const __half *in, unsigned short *out, int n) {
  __shared__ __half s[256]; const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : __half(0); __syncthreads();
  if (g < n) out[g] = __half_as_ushort(s[t ^ 255]); }
__global__ void f(const float *in, int *out, int n) {
  __shared__ float s[256]; const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0; __syncthreads();
  if (g < n) out[g] = __float_as_int(s[t ^ 255]); }
int main() { const int n = 5120; Buffer<unsigned short> a(randoms<unsigned short>(n)); Buffer<int> b(randoms<int>(n));
  k<<<20, 256>>>((const __half *)a.Data, a.Data, n); a.show("k");
  f<<<20, 256>>>((const float *)b.Data, b.Data, n); b.show("f"); }
