// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic with exact results: rounding modes, conversions, minima, integer
// intrinsics, half precision.
#include "suite.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define ROUNDINGS(M) M(rn) M(rz) M(ru) M(rd)
#define FLOAT_OPS(R)                                                                               \
  BINARY(fadd_##R, float, float, __fadd_##R(x, y))                                                 \
  BINARY(fsub_##R, float, float, __fsub_##R(x, y))                                                 \
  BINARY(fmul_##R, float, float, __fmul_##R(x, y))                                                 \
  BINARY(fdiv_##R, float, float, __fdiv_##R(x, y))                                                 \
  TERNARY(fmaf_##R, float, float, __fmaf_##R(x, y, z))                                             \
  UNARY(fsqrt_##R, float, float, __fsqrt_##R(x))                                                   \
  UNARY(frcp_##R, float, float, __frcp_##R(x))                                                     \
  BINARY(dadd_##R, double, double, __dadd_##R(x, y))                                               \
  BINARY(dmul_##R, double, double, __dmul_##R(x, y))                                               \
  BINARY(ddiv_##R, double, double, __ddiv_##R(x, y))                                               \
  TERNARY(dfma_##R, double, double, __fma_##R(x, y, z))                                            \
  UNARY(dsqrt_##R, double, double, __dsqrt_##R(x))                                                 \
  UNARY(float2int_##R, float, int, __float2int_##R(x))                                             \
  UNARY(float2uint_##R, float, unsigned, __float2uint_##R(x))                                      \
  UNARY(float2ll_##R, float, long long, __float2ll_##R(x))                                         \
  UNARY(float2ull_##R, float, unsigned long long, __float2ull_##R(x))                              \
  UNARY(double2int_##R, double, int, __double2int_##R(x))                                          \
  UNARY(double2uint_##R, double, unsigned, __double2uint_##R(x))                                   \
  UNARY(double2ll_##R, double, long long, __double2ll_##R(x))                                      \
  UNARY(double2ull_##R, double, unsigned long long, __double2ull_##R(x))                           \
  UNARY_NAN(double2float_##R, double, float, __double2float_##R(x))                                    \
  UNARY(int2float_##R, int, float, __int2float_##R(x))                                             \
  UNARY(uint2float_##R, unsigned, float, __uint2float_##R(x))                                      \
  UNARY(ll2float_##R, long long, float, __ll2float_##R(x))                                         \
  UNARY(ull2float_##R, unsigned long long, float, __ull2float_##R(x))                              \
  UNARY(ll2double_##R, long long, double, __ll2double_##R(x))                                      \
  UNARY(ull2double_##R, unsigned long long, double, __ull2double_##R(x))
ROUNDINGS(FLOAT_OPS)

BINARY(add_f, float, float, x + y)
BINARY(mul_f, float, float, x *y)
BINARY(div_f, float, float, x / y)
BINARY(div_d, double, double, x / y)
UNARY_NAN(neg_f, float, float, -x)
UNARY(to_int, float, int, (int)x)
UNARY(to_unsigned, float, unsigned, (unsigned)x)
UNARY(to_ll, double, long long, (long long)x)
UNARY_NAN(to_float, double, float, (float)x)
UNARY_NAN(to_double, float, double, (double)x)
BINARY(fminf_, float, float, fminf(x, y))
BINARY(fmaxf_, float, float, fmaxf(x, y))
BINARY(fmin_, double, double, fmin(x, y))
BINARY(fmax_, double, double, fmax(x, y))
BINARY(copysign_, float, float, copysignf(x, y))
BINARY(fdim_, float, float, fdimf(x, y))
BINARY(fmod_, float, float, fmodf(x, y))
BINARY(remainder_, float, float, remainderf(x, y))
BINARY(nextafter_, float, float, nextafterf(x, y))
BINARY(less_, float, int, (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (x > y))
UNARY_NAN(fabs_, float, float, fabsf(x))
UNARY(floor_, float, float, floorf(x))
UNARY(ceil_, float, float, ceilf(x))
UNARY(trunc_, float, float, truncf(x))
UNARY(round_, float, float, roundf(x))
UNARY(rint_, float, float, rintf(x))
UNARY(nearbyint_, double, double, nearbyint(x))
UNARY(lrint_, float, long long, (long long)lrintf(x))
UNARY(llround_, double, long long, llround(x))
UNARY(logb_, float, float, logbf(x))
UNARY(ilogb_, float, int, ilogbf(x))
UNARY(saturate_, float, float, __saturatef(x))
UNARY(sqrt_, float, float, sqrtf(x))
UNARY(isnan_, float, int, isnan(x) + 2 * isinf(x) + 4 * isfinite(x) + 8 * !!signbit(x))
UNARY(ldexp_, float, float, ldexpf(x, 5))
UNARY(scalbn_, float, float, scalbnf(x, -20))
UNARY(float_as_int, float, int, __float_as_int(x))
UNARY(int_as_float, int, float, __int_as_float(x))
UNARY(double_hi, double, int, __double2hiint(x))
UNARY(double_lo, double, int, __double2loint(x))
BINARY(hiloint, int, double, __hiloint2double(x, y))

BINARY(idiv, int, int, y == 0 || (x == -2147483647 - 1 && y == -1) ? 0 : x / y)
BINARY(imod, int, int, y == 0 || (x == -2147483647 - 1 && y == -1) ? 0 : x % y)
BINARY(udiv64, unsigned long long, unsigned long long, y == 0 ? 0 : x / y)
BINARY(imul64, long long, long long, (long long)((unsigned long long)x * (unsigned long long)y))
UNARY(popc, unsigned, int, __popc(x))
UNARY(popcll, unsigned long long, int, __popcll(x))
UNARY(clz, int, int, __clz(x))
UNARY(clzll, long long, int, __clzll(x))
UNARY(ffs_, int, int, __ffs(x))
UNARY(ffsll_, long long, int, __ffsll(x))
UNARY(brev, unsigned, unsigned, __brev(x))
UNARY(brevll, unsigned long long, unsigned long long, __brevll(x))
UNARY(abs_, int, int, x == -2147483647 - 1 ? 0 : abs(x))
BINARY(mulhi, int, int, __mulhi(x, y))
BINARY(umulhi, unsigned, unsigned, __umulhi(x, y))
BINARY(mul64hi, long long, long long, __mul64hi(x, y))
BINARY(umul64hi, unsigned long long, unsigned long long, __umul64hi(x, y))
BINARY(mul24, int, int, __mul24(x, y))
BINARY(umul24, unsigned, unsigned, __umul24(x, y))
BINARY(hadd, int, int, __hadd(x, y))
BINARY(rhadd, int, int, __rhadd(x, y))
BINARY(uhadd, unsigned, unsigned, __uhadd(x, y))
TERNARY(sad, int, unsigned, __sad(x, y, (unsigned)z))
TERNARY(usad, unsigned, unsigned, __usad(x, y, z))
TERNARY(byte_perm, unsigned, unsigned, __byte_perm(x, y, z))
TERNARY(funnel_l, unsigned, unsigned, __funnelshift_l(x, y, z))
TERNARY(funnel_r, unsigned, unsigned, __funnelshift_r(x, y, z))
TERNARY(funnel_lc, unsigned, unsigned, __funnelshift_lc(x, y, z))
TERNARY(funnel_rc, unsigned, unsigned, __funnelshift_rc(x, y, z))
TERNARY(dp4a_s, int, int, __dp4a(x, y, z))
TERNARY(dp4a_u, unsigned, unsigned, __dp4a(x, y, z))
TERNARY(dp2a_lo, int, int, __dp2a_lo(x, y, z))
TERNARY(dp2a_hi, unsigned, unsigned, __dp2a_hi(x, y, z))
BINARY(min_max, int, int, min(x, y) ^ (max(x, y) << 1))
BINARY(shifts, unsigned, unsigned, (x << (y & 31)) ^ (x >> (y & 31)) ^ (unsigned)((int)x >> (y & 31)))
BINARY(vadd2, unsigned, unsigned, __vadd2(x, y))
BINARY(vadd4, unsigned, unsigned, __vadd4(x, y))
BINARY(vsub4, unsigned, unsigned, __vsub4(x, y))
BINARY(vaddss4, unsigned, unsigned, __vaddss4(x, y))
BINARY(vaddus2, unsigned, unsigned, __vaddus2(x, y))
BINARY(vabsdiffu4, unsigned, unsigned, __vabsdiffu4(x, y))
BINARY(vsadu4, unsigned, unsigned, __vsadu4(x, y))
BINARY(vcmpeq4, unsigned, unsigned, __vcmpeq4(x, y))
BINARY(vcmpgtu2, unsigned, unsigned, __vcmpgtu2(x, y))
BINARY(vmaxs2, unsigned, unsigned, __vmaxs2(x, y))
BINARY(vminu4, unsigned, unsigned, __vminu4(x, y))
BINARY(vavgu4, unsigned, unsigned, __vavgu4(x, y))
BINARY(vsetltu4, unsigned, unsigned, __vsetltu4(x, y))

__device__ unsigned short bitsOf(__half h) { return __half_as_ushort(h); }
__device__ unsigned short bitsOf(__nv_bfloat16 h) { return __bfloat16_as_ushort(h); }
UNARY(float2half, float, unsigned short, bitsOf(__float2half(x)))
UNARY(float2half_rz, float, unsigned short, bitsOf(__float2half_rz(x)))
UNARY(float2half_ru, float, unsigned short, bitsOf(__float2half_ru(x)))
UNARY(half2float, unsigned, float, __half2float(__ushort_as_half((unsigned short)x)))
UNARY_NAN(float2bf16, float, unsigned short, bitsOf(__float2bfloat16(x)))
UNARY_NAN(bf162float, unsigned, float, __bfloat162float(__ushort_as_bfloat16((unsigned short)x)))
#define H(v) __float2half(v)
BINARY(half_add, float, unsigned short, bitsOf(__hadd(H(x), H(y))))
BINARY(half_sub, float, unsigned short, bitsOf(__hsub(H(x), H(y))))
BINARY(half_mul, float, unsigned short, bitsOf(__hmul(H(x), H(y))))
BINARY(half_div, float, unsigned short, bitsOf(__hdiv(H(x), H(y))))
TERNARY(half_fma, float, unsigned short, bitsOf(__hfma(H(x), H(y), H(z))))
BINARY(half_less, float, int, __hlt(H(x), H(y)) + 2 * __heq(H(x), H(y)) + 4 * __hgtu(H(x), H(y)))
BINARY(half_max, float, unsigned short, bitsOf(__hmax(H(x), H(y))))
UNARY(half_int, float, int, __half2int_rz(H(x)))
UNARY(int_half, int, unsigned short, bitsOf(__int2half_rn(x)))
UNARY(half_sqrt, float, unsigned short, bitsOf(hsqrt(H(x))))
UNARY(half_floor, float, unsigned short, bitsOf(hfloor(H(x))))
BINARY(half2_add, float, unsigned, ([](__half2 v) {
         return (unsigned)bitsOf(__low2half(v)) | (unsigned)bitsOf(__high2half(v)) << 16;
       }(__hadd2(__floats2half2_rn(x, y), __floats2half2_rn(y, x)))))
BINARY_NAN(bf16_add, float, unsigned short, bitsOf(__hadd(__float2bfloat16(x), __float2bfloat16(y))))
BINARY_NAN(bf16_mul, float, unsigned short, bitsOf(__hmul(__float2bfloat16(x), __float2bfloat16(y))))

// What an operation makes of numbers that has no result.
__global__ void invalid(float *f, double *d, float inf, float zero, float minus) {
  f[0] = inf - inf, f[1] = zero / zero, f[2] = zero * inf, f[3] = sqrtf(minus);
  f[4] = fmaf(inf, zero, minus), f[5] = fmodf(inf, minus);
  d[0] = (double)inf - inf, d[1] = (double)zero / zero, d[2] = (double)zero * inf;
  d[3] = sqrt((double)minus), d[4] = fma((double)inf, (double)zero, (double)minus);
}
static suite::Case invalids("invalid", [] {
  suite::Array<float> f(6);
  suite::Array<double> d(5);
  invalid<<<1, 1>>>(f, d, INFINITY, 0, -1);
  suite::take("invalid_float", f.P, 6);
  suite::take("invalid_double", d.P, 5);
});

int main(int argc, char **argv) { return suite::main(argc, argv); }
