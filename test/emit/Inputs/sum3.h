// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of a kernel `(const T *in, T *out, int n)` with blocks of 256
// threads, for programs whose subject is everything else.

#ifndef RCACHE_TEST_SUM3_H
#define RCACHE_TEST_SUM3_H

#include "program.h"

#define SUM3(T)                                                                \
  __shared__ T s[258];                                                         \
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;                         \
  s[t + 1] = g < n ? in[g] : T(0);                                             \
  if (t == 0)                                                                  \
    s[0] = g > 0 && g <= n ? in[g - 1] : T(0);                                 \
  if (t == 255)                                                                \
    s[257] = g + 1 < n ? in[g + 1] : T(0);                                     \
  __syncthreads();                                                             \
  if (g < n)                                                                   \
    out[g] = s[t] + s[t + 1] * T(2) + s[t + 2];

#endif // RCACHE_TEST_SUM3_H
