// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ends of trees that stay in shared memory: see Plan.h, WarpRounds.

#ifndef RCACHE_PLAN_WARPROUNDS_H
#define RCACHE_PLAN_WARPROUNDS_H

#include "Assumptions.h"
#include "rcache/Plan.h"

namespace rcache {

/// The loops of \p M whose last rounds the first warp may have for itself,
/// where blocks are as \p A says; none where their shape is not known. May
/// throw isl::exception.
///
/// In those rounds every effect of the body is one of a thread of the first
/// warp, the barrier apart; so the others have nothing to wait for but the end.
/// There is a round of the block in front: all its threads come to the loop,
/// and to a barrier in it.
std::vector<WarpRounds> warpRounds(const KernelModel &M, const Assumptions &A);

/// The number of a thread in a block of the shape \p Block, x first: `[tx, ty,
/// tz] -> { [n] }`.
isl::pw_aff threadNumber(isl::ctx Ctx, const std::array<int64_t, 3> &Block);

} // namespace rcache

#endif // RCACHE_PLAN_WARPROUNDS_H
