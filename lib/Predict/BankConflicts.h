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

/// Wavefronts of one warp-wide access to \p Each words of shared memory a lane, from
/// \p Words on (of the lanes that take part): lanes that ask one bank for different words
/// wait for each other. One word is asked for by 32 lanes at a time, two by 16, four by 8;
/// by twice as many where lanes beside each other, or next but one, ask alike. Counted by
/// ncu on an H200 (l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld), four words a lane:
/// all lanes alike 2, four rows 2, eight lanes side by side 4, eight of them 32 bytes
/// apart 8; two words: two rows 1, sixteen side by side 2.
double wavefrontsOfWords(llvm::ArrayRef<int64_t> Words, unsigned Each);

/// The same of \p Elements, in units of \p Bytes; one that all lanes read takes as many
/// as it has words (kmeans of 2026-11-28-h200-planner.json).
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
