// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops of a few rounds between two barriers, in which a thread uses several elements of
// what the block exchanges:
//
//     for (int k = 0; k < 2; ++k)             { const int k = 0;
//       s[t + k * 128] = in[g + k * 128];       s[t + k * 128] = in[g + k * 128]; }
//                                             { const int k = 1;
//                                               s[t + k * 128] = in[g + k * 128]; }
//
// Each round is a statement of its own then, which may use elements of other threads, and
// whose own elements are known.

#ifndef RCACHE_WRITTENROUNDS_H
#define RCACHE_WRITTENROUNDS_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// The body of \p M with the rounds of such loops one behind the other, the innermost ones
/// first, where a shared array is computed of its own elements; nullopt: there are none, or
/// sums may be fused otherwise.
std::optional<OtherBody> writtenRounds(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_WRITTENROUNDS_H
