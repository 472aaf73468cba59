// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which products are fused with sums: simple forms, in which every compiler that
// contracts at all makes the same choice.
#include "suite.h"

TERNARY(mul_add, float, float, x *y + z)
TERNARY(add_mul, float, float, z + x * y)
TERNARY(mul_sub, float, float, x *y - z)
TERNARY(sub_mul, float, float, z - x * y)
TERNARY(neg_mul_sub, float, float, -(x * y) - z)
TERNARY(mul_add_d, double, double, x *y + z)
TERNARY(square_add, float, float, x *x + z)
TERNARY(shared_product, float, float, (x * y + z) * 0.5f + x * y)
TERNARY(kept_apart, float, float, __fadd_rn(__fmul_rn(x, y), z))
TERNARY(kept_product, float, float, __fmul_rn(x, y) + z)

__device__ float product(float a, float b) { return a * b; }
TERNARY(through_function, float, float, product(x, y) + z)
__device__ __noinline__ float far(float a, float b) { return a * b; }
TERNARY(through_call, float, float, z - 0.0f * far(x, y))

__global__ void dot(const float *a, const float *b, float *o) {
  float sum = 0;
  for (int i = 0; i < 32; ++i)
    sum += a[i + threadIdx.x] * b[i];
  o[threadIdx.x] = sum;
}
__global__ void throughShared(const float *a, const float *b, float *o) {
  __shared__ float s[64];
  s[threadIdx.x] = a[threadIdx.x] * b[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x ^ 1];
}
__global__ void horner(const float *a, float *o) {
  float x = a[threadIdx.x];
  o[threadIdx.x] = ((0.3f * x + 0.7f) * x - 1.1f) * x + 0.01f;
}
static suite::Case cases("sums", [] {
  suite::Array<float> a(suite::range<float>(-1.1, 1.3, 128)), b(suite::range<float>(0.1, 2.3, 128)), o(64);
  dot<<<1, 64>>>(a, b, o);
  suite::take("dot", o.P, 64);
  throughShared<<<1, 64>>>(a, b, o);
  suite::take("through_shared", o.P, 64);
  horner<<<1, 64>>>(a, o);
  suite::take("horner", o.P, 64);
});

int main(int argc, char **argv) { return suite::main(argc, argv); }
