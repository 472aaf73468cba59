// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ends of reductions that one warp does by itself:
//
//     if (t < 32) {                       float s_next; if (t < 32) s_next =
//       volatile float *v = s;                s[t] + (s[t + 32]);
//       v[t] += v[t + 32];                __syncthreads();
//       __syncwarp();                     if (t < 32) s[t] = s_next;
//       v[t] += v[t + 16];                __syncthreads();
//       ...                               ...
//
// The text that is planned has barriers of the block where the original has
// those of a warp: they order more, and all threads arrive at them. A statement
// by which lanes change what others use in it is run as a warp runs it, reads
// first.

#ifndef RCACHE_WARPTAILS_H
#define RCACHE_WARPTAILS_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// The body of \p M with barriers of the block in its tails; nullopt: it has no
/// tails, or they are of no form that is known. \p AssumeLockstep: between two
/// statements a warp waits for its lanes where nothing says so, too.
std::optional<OtherBody> warpTails(const KernelModel &M, bool AssumeLockstep);

/// The body of \p M in which lanes name no tile of 32 threads:
/// `tile.shfl_down(v, 16)` is `__shfl_down_sync(0xffffffffu, v, 16)`; nullopt:
/// it has none, or does more with it, or not in tails alone.
std::optional<OtherBody> withoutTiles(const KernelModel &M);

/// Where a tail counts on a warp in step, as the reason \c volatile-tail: a
/// lane uses what another one has changed in a statement before, and nothing
/// stands between them. nullopt: nowhere, or nobody can tell.
std::optional<Decline> countsOnStep(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_WARPTAILS_H
