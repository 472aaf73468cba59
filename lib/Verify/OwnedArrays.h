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

/// The same of the statements that owners run under other threads' numbers
/// (StridedRun): each thread that may use an element or store something is run, by
/// whoever owns what it changes, and gets the elements that it names.
std::optional<std::string> wrongStrided(const KernelModel &M, const Plan &P,
                                        const ArrayPlan &A, World &W,
                                        uint64_t &Checks);

/// The element that \p S names for the thread that \p W holds: in rows one behind
/// the other. Throws Undecided.
int64_t elementNamed(const KernelModel &M, const SharedAccess &S, World &W);

} // namespace rcache::verify

#endif // RCACHE_LIB_VERIFY_OWNEDARRAYS_H
