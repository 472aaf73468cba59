// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What must not change, one function a rule: order of global loads and stores,
// convergence, control flow that the slots of a thread must share.

#ifndef RCACHE_PLAN_LEGALITY_H
#define RCACHE_PLAN_LEGALITY_H

#include "rcache/Plan.h"

namespace rcache {

/// May pointer parameters \p A and \p B (indices in M.Params, -1: unknown
/// memory) lead to the same element? Different scalar types do not alias, nor
/// do __restrict__ parameters; \p AssumeNoAlias: only a parameter and itself.
bool mayAlias(const KernelModel &M, int A, int B, bool AssumeNoAlias);

/// A written parameter that may alias something the kernel reads or writes in
/// another interval, as a sentence; nullopt: barriers order shared memory only.
std::optional<std::string> globalOrder(const KernelModel &M, bool AssumeNoAlias);

/// The slots of a thread run every statement that holds a barrier together, so
/// its condition must be the same for all threads of a block.
std::optional<Decline> convergence(const KernelModel &M);

/// Effects and constructs that slots cannot repeat or share (whole use of
/// threadIdx, variables of block scope that cannot be one a slot, ...).
std::optional<Decline> slotability(const KernelModel &M);

/// The loads that move (those of register arrays) happen at the end of the
/// staging statements, or where they are used. A store in between to what they
/// read forbids it; if only a launch can tell, it is asked to (Plan::Separate).
std::optional<Decline> movedLoads(const KernelModel &M, const ArrayPlan &A,
                                  Plan &P, bool AssumeNoAlias);

/// The symbols of the staging function must still have their values where the
/// window is filled: at the barrier. The first one that has not.
std::optional<Decline> changedAtBarrier(const KernelModel &M,
                                        const ArrayPlan &A);

} // namespace rcache

#endif // RCACHE_PLAN_LEGALITY_H
