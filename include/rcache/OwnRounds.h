// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that threads share, in front of or behind what they exchange, with a few
// rounds each:
//
//     for (int i = t; i < 1024; i += blockDim.x)        // 256 threads
//       sum += row[i];
//
// become loops of as many rounds for all, which the slots of a thread may run
// with all their loads on the way:
//
//     for (int round = 0; round < 4; ++round) {
//       const int i = 0 + (int)threadIdx.x + 256 * round;
//       sum += row[i]; }

#ifndef RCACHE_OWNROUNDS_H
#define RCACHE_OWNROUNDS_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// The body of \p M with constant rounds in such loops, where a shared array is
/// computed of its own elements; nullopt: there are none.
std::optional<OtherBody> ownRounds(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_OWNROUNDS_H
