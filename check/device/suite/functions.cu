// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mathematical functions. Those that libdevice computes with ordinary arithmetic
// must agree in every bit; those that use an approximate instruction of the
// device may differ by the units in the last place given here.
#include "suite.h"

#define F1(Name, Low, High, Ulp)                                                                   \
  UNARY_IN(Name##_f, float, float, Name##f(x), suite::range<float>(Low, High, 64), Ulp)            \
  UNARY_IN(Name##_d, double, double, Name(x), suite::range<double>(Low, High, 64), 1)
F1(sin, -10, 10, 0)
F1(cos, -10, 10, 0)
F1(tan, -1.5, 1.5, 4)
F1(asin, -1, 1, 2)
F1(acos, -1, 1, 2)
F1(atan, -20, 20, 2)
F1(sinh, -5, 5, 4)
F1(cosh, -5, 5, 4)
F1(tanh, -3, 3, 4)
F1(asinh, -30, 30, 4)
F1(acosh, 1, 30, 4)
F1(atanh, -0.99, 0.99, 4)
F1(exp, -80, 80, 4)
F1(exp2, -100, 100, 4)
F1(exp10, -30, 30, 4)
F1(expm1, -5, 5, 4)
F1(log, 0.001, 1000, 2)
F1(log2, 0.001, 1000, 2)
F1(log10, 0.001, 1000, 2)
F1(log1p, -0.9, 100, 2)
F1(cbrt, -100, 100, 2)
F1(erf, -3, 3, 4)
F1(erfc, -3, 3, 8)
F1(tgamma, 0.5, 8, 8)
F1(lgamma, 0.5, 30, 8)
F1(rsqrt, 0.001, 1000, 2)
F1(j0, -10, 10, 8)
F1(sinpi, -3, 3, 2)
F1(cospi, -3, 3, 2)
F1(normcdf, -3, 3, 8)

UNARY_IN(sin_large, float, float, sinf(x), suite::range<float>(1e5, 1e9, 64), 1)
UNARY_IN(pow_f, float, float, powf(x, 1.7f), suite::range<float>(0.01, 30, 64), 8)
UNARY_IN(pow_d, double, double, pow(x, -2.3), suite::range<double>(0.01, 30, 64), 1)
UNARY_IN(pow_int, float, float, powf(x, 3.0f), suite::range<float>(-9, 9, 64), 8)
UNARY_IN(atan2_f, float, float, atan2f(x, 2.0f), suite::range<float>(-9, 9, 64), 2)
UNARY_IN(hypot_f, float, float, hypotf(x, 3.0f), suite::range<float>(-9, 9, 64), 2)
UNARY_IN(hypot_d, double, double, hypot(x, 3.0), suite::range<double>(-9, 9, 64), 2)
UNARY_IN(sincos_f, float, float, ([](float v) {
           float s, c;
           sincosf(v, &s, &c);
           return s + c;
         }(x)),
         suite::range<float>(-9, 9, 64), 1)
UNARY_IN(fast_sin, float, float, __sinf(x) + 2.0f, suite::range<float>(-3, 3, 64), 64)
UNARY_IN(fast_cos, float, float, __cosf(x) + 2.0f, suite::range<float>(-3, 3, 64), 64)
UNARY_IN(fast_exp, float, float, __expf(x), suite::range<float>(-20, 20, 64), 64)
UNARY_IN(fast_exp10, float, float, __exp10f(x), suite::range<float>(-5, 5, 64), 64)
UNARY_IN(fast_log, float, float, __logf(x), suite::range<float>(2, 900, 64), 64)
UNARY_IN(fast_log2, float, float, __log2f(x), suite::range<float>(2, 900, 64), 64)
UNARY_IN(fast_pow, float, float, __powf(x, 1.5f), suite::range<float>(1, 30, 64), 64)
UNARY_IN(fast_div, float, float, __fdividef(x, 3.0f), suite::range<float>(1, 30, 64), 4)
UNARY_IN(frsqrt_, float, float, __frsqrt_rn(x), suite::range<float>(0.01, 30, 64), 1)
UNARY_IN(fast_tan, float, float, __tanf(x), suite::range<float>(0.2, 1, 64), 256)

__global__ void moreParts(const double *a, double *o, int n) {
  int i = threadIdx.x;
  if (i >= n)
    return;
  int e;
  double whole, fraction = modf(a[i], &whole), m = frexp(a[i], &e);
  o[4 * i] = whole, o[4 * i + 1] = fraction, o[4 * i + 2] = m, o[4 * i + 3] = e;
}
static suite::Case parts("parts", [] {
  suite::Array<double> A(suite::range<double>(-1e6, 1e6, 64)), O(256);
  moreParts<<<1, 64>>>(A, O, 64);
  suite::take("modf_frexp", O.P, 256);
});

int main(int argc, char **argv) { return suite::main(argc, argv); }
