// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside of the plan verifier: a block's accesses to the arrays that stay in
// shared memory, walked through in the order of the program, thread by thread,
// for one launch in numbers. Two of them that the original kept apart by a
// barrier have to be kept apart by one that is left: a warp's for two lanes of
// a warp, the block's for two warps.

#ifndef RCACHE_LIB_VERIFY_BARRIERS_H
#define RCACHE_LIB_VERIFY_BARRIERS_H

#include "World.h"

namespace rcache::verify {

/// What is wrong with the barriers of \p P in the launch of \p W; nullopt:
/// nothing was found. \p Checks: pairs that were looked at. Throws Undecided
/// where the way of the block through the kernel is not known.
std::optional<std::string> unorderedPair(const KernelModel &M, const Plan &P,
                                         World &W, uint64_t &Checks);

} // namespace rcache::verify

#endif // RCACHE_LIB_VERIFY_BARRIERS_H
