// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads without a window (`s[t ^ 1]`, `s[t / 2]`) whose source the kernel may
// write: they are done where the barrier stands, in front of all its stores,
// into one register for each slot and round of the loops around them.
//
//     register [sx][k]  holds element  First(tx, sx, k)

#ifndef RCACHE_LIB_PLAN_PLACEMENTS_READEARLY_H
#define RCACHE_LIB_PLAN_PLACEMENTS_READEARLY_H

#include "../Staging.h"
#include <set>

namespace rcache {

/// One ArrayPlan for each read of \p Direct; the loops whose iterators tell
/// registers apart are added to \p Loops. nullopt: an index is not known at the
/// barrier, or takes more than \p MaxRegisters.
std::optional<std::vector<ArrayPlan>>
readEarly(const KernelModel &M, const StagingGroup &G, const Assumptions &A,
          const Plan &P, const ArrayPlan &Direct, int64_t MaxRegisters,
          std::set<unsigned> &Loops);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_PLACEMENTS_READEARLY_H
