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
  /// Threads a block where no launch tells; nullopt: 256.
  std::optional<std::array<int64_t, 3>> AssumedBlock;
  /// Plans for blocks of this shape alone, whatever the launches tell. Not for
  /// models with a block of their own (Geometry::ConstBlock).
  std::optional<std::array<int64_t, 3>> OnlyBlock;
  bool AssumeNoAlias = false;
  bool Force = false;
  bool Staging = true; ///< plans for what is staged in shared memory
  bool Private = true; ///< plans for private arrays
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

/// What would let a thread's elements be in registers where only the launch knows
/// how many they are; "": they are no such number.
std::string adviceOnWindows(const KernelModel &M);

/// Of a plan that was not written for \p D, an effect in the header of a loop with
/// barriers: its counter is a variable of the thread; "": it is none.
std::string adviceOnCounters(const KernelModel &M, const Decline &D);

} // namespace rcache

#endif // RCACHE_PLAN_PLANNER_H
