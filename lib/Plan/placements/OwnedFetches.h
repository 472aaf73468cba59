// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where, by which slots and at what cost other threads' owned elements are copied.
// May throw isl::exception.

#ifndef RCACHE_LIB_PLAN_PLACEMENTS_OWNEDFETCHES_H
#define RCACHE_LIB_PLAN_PLACEMENTS_OWNEDFETCHES_H

#include "../Counters.h"
#include "rcache/Plan.h"
#include "llvm/ADT/ArrayRef.h"

namespace rcache {

/// The statements without barriers, one behind the other, that \p S is in.
TextRange intervalOf(const KernelModel &M, const SharedAccess &S);

/// `[tx] -> { [tx ^ Mask] }`. \p Mask >= 0.
isl::pw_aff flipped(isl::ctx Ctx, int64_t Mask);

/// `[sx, counters of By] -> { : }`: some thread of the slot is in \p Domain
/// ([tx, symbols] -> { : }). \p Visits: the counters there.
isl::set slotsOf(const Mapping &Map, const isl::set &Domain,
                 const isl::pw_aff &By,
                 llvm::ArrayRef<Counters::Values> Visits);

/// Shuffles of a warp for \p F where the counters are \p V and its By is \p By.
double shufflesOf(const Mapping &Map, const Owned::Fetch &F, int64_t By,
                  const Counters::Values &V);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_PLACEMENTS_OWNEDFETCHES_H
