// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One shared array that holds several, each behind a pointer:
//
//     extern __shared__ float s[];        __shared__ float s_0[256];
//     float *A = s;                       __shared__ float s_1[256];
//     float *B = s + 256;                 float *A = s_0;
//                                         float *B = s_1 + (256 - 256);
//
// Which tile is staged for whom is a question to each of them: blocks that are joined
// stage one once for all blocks of a row, another one for all of a column.

#ifndef RCACHE_CARVEDARRAYS_H
#define RCACHE_CARVEDARRAYS_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// The body of \p M with an array for each part that is used apart from the others:
/// all that is read and written through a pointer, or by the array's own name, lies in
/// it at every launch in blocks of the known shape. nullopt: there are none such.
std::optional<OtherBody> carvedArrays(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_CARVEDARRAYS_H
