// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays that belong to a warp which stands for a whole block.

#ifndef RCACHE_LIB_PLAN_PLACEMENTS_OWNED_H
#define RCACHE_LIB_PLAN_PLACEMENTS_OWNED_H

#include "../Assumptions.h"
#include "rcache/Plan.h"

namespace rcache {

/// The placements of all arrays in the registers of the one warp that P.Map makes
/// of a block, and the statements that threads of other numbers run (P.Paired).
/// False: some access is not of a form that is known to be right, and \p WhyNot says
/// which, as a clause. May throw isl::exception.
bool ownedArrays(const KernelModel &M, const Assumptions &A, Plan &P,
                 std::string &WhyNot);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_PLACEMENTS_OWNED_H
