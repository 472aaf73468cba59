// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wavefronts of accesses to shared memory whose step from lane to lane is another
// one each time that the block comes there.
//
//     s[2 * d * t] += s[2 * d * t + d]      d = 1: two lanes a bank; d = 2: four; ...

#ifndef RCACHE_LIB_PREDICT_BANKCONFLICTS_H
#define RCACHE_LIB_PREDICT_BANKCONFLICTS_H

#include "Plan/Assumptions.h"
#include "Plan/Counters.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace rcache {

/// Wavefronts of one warp-wide access to words of shared memory: lanes that ask one
/// bank for different words wait for each other. \p Elements: of the lanes that take
/// part, in units of \p Bytes. No less than the words of an element.
double wavefronts(llvm::ArrayRef<int64_t> Elements, unsigned Bytes);

/// What the accesses of one kind are for a warp, mean over the warps of a block and sum
/// over visits.
struct Accesses {
  double Warps = 0;      ///< those with a lane that takes part
  double Wavefronts = 0; ///< of these
};

/// \p S by the warps of a block of \p A in \p Visits, with the lanes that its guards let
/// through. nullopt: in some visit its elements are no numbers. May throw isl::exception.
std::optional<Accesses> accesses(const KernelModel &M, const Assumptions &A,
                                 const SharedAccess &S,
                                 llvm::ArrayRef<Counters::Values> Visits);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_BANKCONFLICTS_H
