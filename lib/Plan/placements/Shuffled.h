// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows of one dimension whose elements are each loaded by one lane of the
// warp and reach the others by shuffles.

#ifndef RCACHE_LIB_PLAN_PLACEMENTS_SHUFFLED_H
#define RCACHE_LIB_PLAN_PLACEMENTS_SHUFFLED_H

#include "rcache/Plan.h"

namespace rcache {

/// The distribution by which the lanes of a warp own the elements of \p W, a
/// window of \p Array; nullopt: their windows are no runs that follow one
/// another, none reaches beyond its own lane's, or no shuffle takes elements of
/// that size.
std::optional<Distribution> distributionOf(const Window &W,
                                           const SharedArray &Array,
                                           const Mapping &Map);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_PLACEMENTS_SHUFFLED_H
