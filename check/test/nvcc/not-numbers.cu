// What is no number: the device makes one value of all results of 32 bits that are none,
// also where the sum is one with -0.0, the product one by 1. What passes bits keeps them.
// REQUIRES: cuda-toolkit, nvcc
// RUN: %check run %s --device-code=nvcc | FileCheck %s
// RUN: %check run %s --device-code=clang | FileCheck %s
// RUN: sed 's/= in.i.;/= __fadd_rn(in[i], -0.0f);/' %s > %t.sum.cu
// RUN: sed 's/= in.i.;/= in[i] != in[i] ? in[i] : __fadd_rn(in[i], -0.0f);/' %s > %t.chosen.cu
// RUN: %status 1 %check %s --rewritten=%t.sum.cu --kernel=bits --device-code=nvcc 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: %status 1 %check %s --rewritten=%t.sum.cu --kernel=bits --device-code=clang 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: %check %s --rewritten=%t.chosen.cu --kernel=bits --device-code=nvcc
// RUN: %status 1 %check %s --prove --rewritten=%t.sum.cu --kernel=bits --device-code=nvcc --block=64 2>&1 | FileCheck %s --check-prefix=UNPROVED
// RUN: %check %s --prove --rewritten=%t.chosen.cu --kernel=bits --device-code=nvcc --block=64 2>&1 | FileCheck %s --check-prefix=PROVED
// As an H200 has them.
// CHECK: rn: 7fffffff 7fffffff 7fffffff 7fffffff 7fffffff
// CHECK: plain: 7fffffff 7fffffff ffc12345 ffc12345
// CHECK: ftz: 7fffffff 7fffffff
// CHECK: signs: 7fffffff ffc12345 7fffffff 7fffffff
// CHECK: least: 7fffffff 3f800000
// CHECK: half: 00007fff 00007fff 00007fff 00007fff 00007fff
// CHECK: negated: 7fffffff 7fffffff
// CHECK: double: fff8000012345678 fff8000012345678 fff8000012345678
// OTHER: different: bits:
// OTHER: rewritten: 0x7fffffff
// UNPROVED: rewritten: fadd(in[0], 0x80000000)
// PROVED: proved for all data at {{[0-9]+}} launch shapes, not proved at 0
#include <cmath>
#include <cstdio>
#define F(...) \
  asm("{.reg .f32 a, b; mov.b32 a, %1; mov.b32 b, %2;" __VA_ARGS__ " mov.b32 %0, a;}" \
      : "=r"(*o) : "r"(x), "r"(y)); \
  ++o;
#define H(...) \
  asm("{.reg .b16 a, m, o, r; .reg .f32 f; cvt.u16.u32 a, %1; mov.b16 m, 0x8000; mov.b16 o, 0x3c00;" \
      __VA_ARGS__ " cvt.u32.u16 %0, a;}" \
      : "=r"(*o) : "r"(h)); \
  ++o;
#define D(...) \
  asm("{.reg .f64 a; mov.b64 a, %1;" __VA_ARGS__ " mov.b64 %0, a;}" : "=l"(*d) : "l"(z)); \
  ++d;
__global__ void operations(unsigned *o, unsigned long long *d, unsigned x, unsigned y, unsigned h,
                           unsigned long long z) {
  F("add.rn.f32 a, a, 0f80000000;")
  F("mul.rn.f32 a, a, 0f3F800000;")
  F("sub.rn.f32 a, a, 0f00000000;")
  F("div.rn.f32 a, a, 0f3F800000;")
  F("fma.rn.f32 a, a, 0f3F800000, 0f80000000;")
  F("add.f32 a, a, 0f80000000;")
  F("sub.f32 a, a, 0f00000000;")
  F("mul.f32 a, a, 0f3F800000;")
  F("div.full.f32 a, a, 0f3F800000;")
  F("add.ftz.f32 a, a, 0f80000000;")
  F("mul.ftz.f32 a, a, 0f3F800000;")
  F("neg.f32 a, a;")
  F("neg.f32 a, a; neg.f32 a, a;")
  F("abs.f32 a, a;")
  F("mul.f32 a, a, 0fBF800000;")
  F("min.f32 a, a, b;")
  F("max.f32 a, a, 0f3F800000;")
  H("add.f16 a, a, m;")
  H("mul.f16 a, a, o;")
  H("fma.rn.f16 a, a, o, m;")
  H("cvt.f32.f16 f, a; cvt.rn.f16.f32 a, f;")
  H("neg.f16 a, a;")
  D("add.rn.f64 a, a, 0d8000000000000000;")
  D("mul.rn.f64 a, a, 0d3FF0000000000000;")
  *d = __double_as_longlong(__dadd_rn(__longlong_as_double(z), -0.0));
}
__global__ void bits(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i];
}
// A negation that is stored and multiplied.
__global__ void negated(float *out, float x, float y, float z) {
  const float sum = -(x + y);
  out[0] = sum;
  out[1] = __fmul_rn(sum, z * threadIdx.y);
}
int main() {
  unsigned *o, *at;
  unsigned long long *d;
  cudaMallocManaged(&o, 100);
  cudaMallocManaged(&d, 24);
  operations<<<1, 1>>>(o, d, 0xffc12345, 0x7f812345, 0xfe34, 0xfff8000012345678);
  cudaDeviceSynchronize();
  at = o;
  auto print = [&](const char *what, int n) {
    printf("%s:", what);
    for (; n; --n)
      printf(" %08x", *at++);
    printf("\n");
  };
  print("rn", 5);
  print("plain", 4);
  print("ftz", 2);
  print("signs", 4);
  print("least", 2);
  print("half", 5);
  negated<<<1, 1>>>((float *)o, INFINITY, -INFINITY, 3);
  cudaDeviceSynchronize();
  at = o;
  print("negated", 2);
  printf("double: %016llx %016llx %016llx\n", d[0], d[1], d[2]);
}
