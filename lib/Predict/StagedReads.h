// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a read costs where the staging function is evaluated anew: how far the
// addresses of neighbouring lanes lie apart, and what tells its pieces apart.

#ifndef RCACHE_LIB_PREDICT_STAGEDREADS_H
#define RCACHE_LIB_PREDICT_STAGEDREADS_H

#include "rcache/Plan.h"
#include <optional>

namespace rcache {

/// Bytes between the addresses from which neighbouring lanes, \p Step threads
/// apart, load \p Load to stage \p Element ([tx, symbols] -> { [e] }, one a
/// dimension); nullopt: the address does not tell. Lanes a pitch apart (different rows,
/// channels of a pixel) are as far apart as launches say, else scattered.
std::optional<double> laneStride(const KernelModel &M, const Value &Load, unsigned ElemBytes,
                                 const StagingFunction &Stage,
                                 llvm::ArrayRef<isl::pw_aff> Element,
                                 double Step);

/// The same between neighbouring threads at \p G.
std::optional<double> laneStride(const KernelModel &M, const GlobalAccess &G);

/// What elements of \p Stage are loaded from.
std::vector<ValueRef> loadsOf(const StagingFunction &Stage);

/// Is \p V an integer division or remainder by a number that is known at run time?
bool isSlowDivision(const Value &V);

/// Such divisions in the values of \p Stage, of the piece that has most.
double slowDivisions(const StagingFunction &Stage);

/// Comparisons that tell which piece of \p Stage an element is in.
double tests(const StagingFunction &Stage);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_STAGEDREADS_H
