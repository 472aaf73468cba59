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
//
// Where an argument says how many rounds there are (`i < n`), the text has two under the
// loop's condition, and a launch is asked whether that is enough (TextForm::AtMost).

#ifndef RCACHE_OWNROUNDS_H
#define RCACHE_OWNROUNDS_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// The body of \p M with constant rounds in such loops, where a shared array is
/// computed of its own elements; nullopt: there are none.
std::optional<OtherBody> ownRounds(const KernelModel &M);

/// The body as it is, for launches that an argument gives two rounds in such loops: for
/// kernels whose sums hang on the loops as they are.
std::optional<OtherBody> fewRounds(const KernelModel &M);

/// The least value that \p L is known to pass for parameter \p Name, if each of them is more
/// than \p Most; nullopt: it may pass less, or nobody knows.
std::optional<int64_t> passedAbove(const KernelModel &M, const LaunchSite &L,
                                   const std::string &Name, int64_t Most);

/// Has \p Loop two rounds at most, by what launches are asked (TextForm::AtMost)?
bool hasFewRounds(const KernelModel &M, const Stmt &Loop);

} // namespace rcache

#endif // RCACHE_OWNROUNDS_H
