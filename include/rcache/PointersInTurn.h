// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared arrays that pointers name in turn:
//
//     __shared__ float a[256], b[256];        __shared__ float in_turn[2][256];
//     float *p = a, *q = b;                   int side = 0;
//     for (..) {                              for (..) {
//       q[t] = p[t] + p[t - d];                 in_turn[1 - side][t] = in_turn[side][t] + ..;
//       __syncthreads();                        __syncthreads();
//       float *x = p; p = q; q = x;             side = 1 - side;
//     }                                       }
//
// Three or four in a circle, too: `turn = (turn + 1) % 3`. And what each round chooses,
// `float *p = r & 1 ? b : a;`, is `const int p_row = (r & 1 ? 1 : 0);`. Which array a pointer
// leads to is a number then, which loops carry.

#ifndef RCACHE_POINTERSINTURN_H
#define RCACHE_POINTERSINTURN_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// The body of \p M with rows of one array in place of arrays of one size, or of rows of
/// one, two to four, to which pointers lead that change places or that a condition chooses,
/// and do nothing else; nullopt: there are none.
std::optional<OtherBody> pointersInTurn(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_POINTERSINTURN_H
