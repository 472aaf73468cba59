// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two shared arrays that pointers name in turn:
//
//     __shared__ float a[256], b[256];        __shared__ float in_turn[2][256];
//     float *p = a, *q = b;                   int side = 0;
//     for (..) {                              for (..) {
//       q[t] = p[t] + p[t - d];                 in_turn[1 - side][t] = in_turn[side][t] + ..;
//       __syncthreads();                        __syncthreads();
//       float *x = p; p = q; q = x;             side = 1 - side;
//     }                                       }
//
// Which array a pointer leads to is a number then, which loops carry.

#ifndef RCACHE_POINTERSINTURN_H
#define RCACHE_POINTERSINTURN_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// The body of \p M with rows of one array in place of two arrays of one size, or of the two
/// rows of one, that two pointers lead to and do nothing but change places; nullopt: there
/// are none.
std::optional<OtherBody> pointersInTurn(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_POINTERSINTURN_H
