// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The staging function: what a shared element holds, as a function of the
// element. The staging writes say it the other way round,
//
//     { Thread[tx, i] -> Elem[e0, e1] }  and a value in tx, i
//
// so the map is inverted and the value composed with the inverse. Writes that
// turn out to be the same function (own element and halo) are joined.
//
//     s[l + 1] = a[g];                 e0 = l + 1
//     if (l < 1) s[0] = a[g - 1];      e0 = 0            ==>  a[bb + e0 - 1]
//     if (l < 1) s[n + 1] = a[g + n];  e0 = n + 1

#ifndef RCACHE_PLAN_STAGING_H
#define RCACHE_PLAN_STAGING_H

#include "Assumptions.h"
#include "Groups.h"
#include "rcache/Plan.h"

namespace rcache {

/// The staging function of \p G, or why there is none.
struct StagingResult {
  StagingFunction F;
  std::optional<Decline> Reason;
};
StagingResult stagingFunction(const KernelModel &M, const StagingGroup &G,
                              const Assumptions &A);

} // namespace rcache

#endif // RCACHE_PLAN_STAGING_H
