// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Row streaming. A (2 R + 1)^2 convolution with 4 x 4 outputs a thread needs a
// window of (4 + 2 R)^2 elements; filled before its use it does not fit in the
// registers. When one loop of the kernel walks over the rows,
//
//     for (j = 0; j < 2 * R + 1; ++j) ... s[ty + j][tx + i] ...
//
// the rows can be loaded one after the other and each be used up at once, by
// every slot that needs it:
//
//     for (row = 0; row < 4 + 2 * R; ++row) {
//       load the row
//       for each row of slots sy: j = row - sy; if j is a round: the body
//     }
//
// Each slot runs its rounds in the order it had; only the slots are
// interleaved.

#ifndef RCACHE_LIB_PLAN_PLACEMENTS_STREAMEDROWS_H
#define RCACHE_LIB_PLAN_PLACEMENTS_STREAMEDROWS_H

#include "rcache/Plan.h"

namespace rcache {

/// \p P (TapsOutside) with all windows streamed that can be, or nullopt if
/// there is none. \p MaxHeld: registers that a window may keep at a time.
std::optional<Plan> streamRows(const KernelModel &M, const Plan &P,
                               int64_t MaxHeld);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_PLACEMENTS_STREAMEDROWS_H
