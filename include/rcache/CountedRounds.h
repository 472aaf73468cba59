// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over tiles whose header hides that all blocks run the same rounds: they
// count from an element of the block's own.
//
//     for (int a = w * 16 * by;            { int a = w * 16 * by;
//          a <= w * 16 * by + w - 1;         for (int a_moved = 0; a_moved < w;
//          a += 16) {                             a_moved += 16) {
//       ...                                    ...
//     }                                        a += 16; } }
//
// Variables that are stepped beside the counter are stepped at the end of the
// body, and `while (t < n) { ...; ++t; }` becomes `for (; t < n; ++t) { ...;
// }`, as is `while (i < n)` over memory in front of what threads exchange.

#ifndef RCACHE_COUNTEDROUNDS_H
#define RCACHE_COUNTEDROUNDS_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// The body of \p M with such loops in the second form; nullopt: it has none of
/// the first.
std::optional<OtherBody> countedRounds(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_COUNTEDROUNDS_H
