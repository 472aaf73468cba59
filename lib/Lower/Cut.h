// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop whose rounds several blocks share (LoopCut), as text:
//
//     const int rc_from = 1 + (int)(blockIdx.z * rc_rounds);
//     const int rc_to = ...;
//     {
//       const int z = rc_from;
//       cur = in[i + (z - 1) * plane];          once a slot
//     }
//     for (int z = rc_from; (z < n - 1) && z != rc_to; ++z)

#ifndef RCACHE_LOWER_CUT_H
#define RCACHE_LOWER_CUT_H

#include "Division.h"
#include "StatementText.h"

namespace rcache {

struct CutText {
  Code Share;      ///< which rounds the block has
  Code FirstRound; ///< declares the counter, for the formulas of what follows
  /// What variables hold in front of that round: those that all slots share, and
  /// those with one element a slot.
  Code OfThread, OfSlot;
  Code Head; ///< of the loop
};

llvm::Expected<CutText> cutText(const KernelModel &M, const Plan &P,
                                const Names &N, const Division &D,
                                const StatementText &Text, const Stmt &Loop);

} // namespace rcache

#endif // RCACHE_LOWER_CUT_H
