// Trees of products: where nothing is added, nothing can be fused, so a register keeps no
// more of a product than memory does.
//
// RUN: rcache-rewrite %s -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH %}
//
// REQUIRES: cuda-toolkit
#include "program.h"

// CHECK-DAG: rewrote 'products' {{.*}}; 's' owned by a warp
__global__ void products(const float *in, float *out, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 1.f;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d)
      s[t] *= s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// A sum behind them could take the last one out of a register; the array stays, and two
// barriers of the block with it.
// CHECK-DAG: rewrote 'summed' {{.*}}; 's' kept shared; the last 6 rounds
// CHECK-DAG: no array goes to registers [computed-exchange]: 's' is updated in place
__global__ void summed(const float *in, float *out, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 1.f;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d)
      s[t] *= s[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0] + 1.f;
}

int main(int argc, char **) {
  const int n = 3000 + argc;
  std::vector<float> data(n);
  for (float &x : data)
    x = 0.97f + (nextRandom() % 1000) / 16000.f;
  const Buffer<float> in(data);
  Buffer<float> a(12), b(12);
  products<<<blocks(n, 256), 256>>>(in.Data, a.Data, n);
  a.show("products", n);
  summed<<<blocks(n, 256), 256>>>(in.Data, b.Data, n);
  b.show("summed", n);
}
