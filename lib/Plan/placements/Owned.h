// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays that belong to a warp which stands for a whole block.

#ifndef RCACHE_LIB_PLAN_PLACEMENTS_OWNED_H
#define RCACHE_LIB_PLAN_PLACEMENTS_OWNED_H

#include "../Assumptions.h"
#include "rcache/Plan.h"

namespace rcache {

/// The placement of \p Array in the registers of the one warp that \p Map makes
/// of a block; nullopt: some access is not of a form that is known to be right, and
/// \p WhyNot says which, as a clause. May throw isl::exception.
std::optional<ArrayPlan> ownedArray(const KernelModel &M, unsigned Array,
                                    const Assumptions &A, const Mapping &Map,
                                    std::string &WhyNot);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_PLACEMENTS_OWNED_H
