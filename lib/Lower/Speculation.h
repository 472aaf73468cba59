// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop over taps runs its slots side by side. Where some of them have
// returned, or stand behind a condition that does not hold for them, a test in
// each round keeps the compiler from overlapping what the others do. May they
// run as well, their values unused?

#ifndef RCACHE_LOWER_SPECULATION_H
#define RCACHE_LOWER_SPECULATION_H

#include "rcache/Plan.h"
#include "llvm/ADT/ArrayRef.h"
#include <set>

namespace rcache {

enum class Speculation {
  No,        ///< a round may not end, trap, or read outside of an array
  IfAnySlot, ///< as soon as one slot runs it does no harm in the others
  Yes
};

/// \p Loop: a loop over taps (Shape.h): no calls, returns, breaks or stores,
/// the header the same for all slots. \p SlotVars: the variables that differ
/// from slot to slot; \p Registers: the arrays that left shared memory.
Speculation speculationOf(const Stmt &Loop, const KernelModel &M, const Plan &P,
                          const std::set<unsigned> &SlotVars,
                          const std::set<unsigned> &Registers);

/// Is what \p R reads within \p Extents, from 0, in every thread of the block and every round
/// of the loops around it, whatever the conditions around it are?
bool isWithin(const SharedAccess &R, llvm::ArrayRef<int64_t> Extents, const KernelModel &M,
              const Plan &P);

} // namespace rcache

#endif // RCACHE_LOWER_SPECULATION_H
