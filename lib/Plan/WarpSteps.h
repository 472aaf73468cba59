// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lanes of a warp do between two barriers, as far as accesses tell.

#ifndef RCACHE_LIB_PLAN_WARPSTEPS_H
#define RCACHE_LIB_PLAN_WARPSTEPS_H

#include "rcache/Model.h"

namespace rcache {

/// The accesses to shared arrays in \p In: indices in SharedAccesses.
std::vector<unsigned> accessesIn(const KernelModel &M, TextRange In);
bool writes(const SharedAccess &S);

/// Does a lane use in \p In what another one changes there? nullopt: not known.
std::optional<bool> lanesMeet(const KernelModel &M, TextRange In);

/// Are threads told apart by threadIdx.x alone?
bool isOneDim(const KernelModel &M);
/// Does only the first warp run what stands under \p If?
bool isOfOneWarp(const KernelModel &M, const Stmt &If);

/// Where a lane uses under \p Tail what another one has changed in a statement
/// before, and no barrier stands between them, as the reason; nullopt: nowhere
/// that is known.
std::optional<Decline> stepIn(const KernelModel &M, const Stmt &Tail);

bool holdsSyncwarp(const KernelModel &M, const Stmt &S);
bool holdsExchange(const KernelModel &M, TextRange In);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_WARPSTEPS_H
