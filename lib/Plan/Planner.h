// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a model to candidate plans. Mechanism only: which candidate is best is
// decided by prediction (lib/Predict).

#ifndef RCACHE_PLAN_PLANNER_H
#define RCACHE_PLAN_PLANNER_H

#include "rcache/Plan.h"

namespace rcache {

struct PlanRequest {
  std::optional<unsigned> Coarsen;    ///< factor along x asked for
  enum { AnyLayout, OnlyCyclic, OnlyChunked } Layout = AnyLayout;
  unsigned AssumedBlock = 0;          ///< 0: 256
  bool AssumeNoAlias = false;
  bool Force = false;
};

struct PlanOutcome {
  std::vector<Plan> Candidates;
  std::vector<Decline> Declines;      ///< why there is none
  /// All candidates leave all arrays in shared memory: why.
  std::vector<Decline> WhyShared;
  std::vector<std::string> Notes;
};

/// All sound plans of \p M within \p R. Never throws; isl's errors become
/// the decline `too-hard`.
PlanOutcome enumeratePlans(const KernelModel &M, const PlanRequest &R);

} // namespace rcache

#endif // RCACHE_PLAN_PLANNER_H
