// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays that belong to the warp that is the block, executed with numbers.

#ifndef RCACHE_LIB_VERIFY_OWNEDARRAYS_H
#define RCACHE_LIB_VERIFY_OWNEDARRAYS_H

#include "World.h"

namespace rcache::verify {

/// What is wrong with \p A, an owned array of \p P, in the launch that \p W holds:
/// each thread executes each access in all rounds, and what its lane and slot get
/// is compared with the element that the original names. nullopt: nothing. Adds to
/// \p Checks. May throw Undecided.
std::optional<std::string> wrongOwned(const KernelModel &M, const Plan &P,
                                      const ArrayPlan &A, World &W,
                                      uint64_t &Checks);

} // namespace rcache::verify

#endif // RCACHE_LIB_VERIFY_OWNEDARRAYS_H
