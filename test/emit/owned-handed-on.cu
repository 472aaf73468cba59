// What is stored into an array that a warp owns ends rounded, as memory would have it:
// a product by a sum with -0.0, anything else so that what is no number keeps its bits.
//
// RUN: rcache-rewrite %s -o %t.cu --force -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: %if slow %{ %nvcc -std=c++17 -Werror all-warnings -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
// RUN: %if rcache-check && slow %{ rcache-check %s --rewritten=%t.cu -- -I%S/Inputs %}
//
// REQUIRES: cuda-toolkit
#include "program.h"

// CHECK-DAG: rewrote 'scaledAbove' {{.*}}; 's' owned by a warp
// TEXT: scaledAbove_rc(
// TEXT: rc_s_own[rc_s] = ::rcache::device::rounded(
__global__ void scaledAbove(const float *in, float *out, float w, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = in[g] > n ? in[g] * w : in[g];
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (t < k)
      s[t] = fminf(s[t], s[t + k]);
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// What is loaded needs nothing.
// CHECK-DAG: rewrote 'loads' {{.*}}; 's' owned by a warp
// TEXT: loads_rc(
// TEXT: rc_s_own[rc_s] = in[g];
__global__ void loads(const float *in, float *out, float w, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = in[g];
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (t < k)
      s[t] = s[t] < s[t + k] ? s[t] : s[t + k];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0] * w + 1.f;
}

// CHECK-DAG: rewrote 'products' {{.*}}; 's' owned by a warp
// TEXT: products_rc(
// TEXT: rc_s_own[rc_s] = __fadd_rn(
// TEXT: rc_u_own[rc_s] = ::rcache::device::rounded(
__global__ void products(const float *in, float *out, float w, int n) {
  __shared__ float s[256], u[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = in[g] * w;
  u[t] = fmaxf(in[g] * w, __int_as_float(__float_as_int(in[g]) | 1));
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (t < k) {
      s[t] += s[t + k];
      u[t] = fminf(u[t], u[t + k]);
    }
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = s[0] + u[0];
}

int main() {
  constexpr int Blocks = 300;
  Buffer<float> in(randoms<float>(Blocks * 256 + 2 * 1024)), out(Blocks);
  scaledAbove<<<Blocks, 256>>>(in.Data, out.Data, 0.3f, 3);
  out.show("scaledAbove");
  loads<<<Blocks, 256>>>(in.Data, out.Data, 0.3f, 3);
  out.show("loads");
  products<<<Blocks, 256>>>(in.Data, out.Data, 0.3f, 3);
  out.show("products");
}
