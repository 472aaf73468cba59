// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How often things happen: for the report (PlanCounts) and, through the same
// two functions, for the prediction (lib/Predict/PlacementCosts.cpp).

#ifndef RCACHE_LIB_PLAN_COUNTS_H
#define RCACHE_LIB_PLAN_COUNTS_H

#include "rcache/Plan.h"

namespace rcache {

/// What a loop of unknown length counts as, in the original and in plans.
constexpr double UnknownRounds = 8;
/// The same of loops over tiles that store nothing: products of 128 to 2048 long sums.
constexpr double UnknownTiles = 32;

/// A loop that never goes back: `do { ... } while (0)`.
bool runsOnce(const Stmt &S);

/// How often a statement runs in a thread, loops that are shared out among the
/// threads left out.
double roundsOf(const KernelModel &M, unsigned StmtId);

/// The innermost loop around a statement; -1: none.
int loopAround(const KernelModel &M, unsigned StmtId);

/// Is what \p S reads, of an array that stays, each slot's own to the compiler, because a
/// product that another slot has as well would be fused otherwise (KernelModel::OwnViews)?
bool slotsSeeAlone(const KernelModel &M, const SharedAccess &S);

/// Slots that share one read of \p S: those along axes on which its place does
/// not depend, as long as they run side by side. Around a loop they do not,
/// unless it runs outside the slots and no condition on a thread is inside it.
double sharingSlots(const KernelModel &M, const SharedAccess &S,
                    const std::array<unsigned, 3> &Factor, bool TapsOutside);

/// Is \p S a write that stages, which takes a load from global memory? What is
/// made of other shared elements, or updated in place, loads nothing.
bool loadsToStage(const KernelModel &M, const SharedAccess &S);

/// Is what \p G reads a vector in a variable, of which members are staged and
/// nothing else is done?
bool isStagedByMember(const KernelModel &M, const GlobalAccess &G);

/// Figures of \p P for reports.
PlanCounts countsOf(const KernelModel &M, const Plan &P);

/// Blocks of 256 threads that an SM has to hold where a warp owns arrays; 0: as ptxas
/// likes. Left alone it does shuffles of unrolled rounds as early as it can, with registers
/// for all of them, or takes few for more warps than are of use: 0.92 to 1.7 times as fast
/// with 80 registers (docs/measurements/2026-11-29-h200-owned-registers.txt). Where the
/// elements alone take most of these, fewer blocks.
unsigned blocksOfOwners(const Plan &P);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_COUNTS_H
