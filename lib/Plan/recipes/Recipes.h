// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recipe makes candidate plans of facts, all of one idea. The planner runs
// those here, in this order, for each block shape until one has candidates;
// which candidate is best is decided by prediction (lib/Predict). Adding one:
// docs/contributing/placements.md.

#ifndef RCACHE_LIB_PLAN_RECIPES_RECIPES_H
#define RCACHE_LIB_PLAN_RECIPES_RECIPES_H

#include "../Facts.h"
#include "llvm/ADT/ArrayRef.h"

namespace rcache {

struct Recipe {
  const char *Name;
  bool (*Applies)(const KernelFacts &K);
  std::vector<Plan> (*Plans)(BlockFacts &F);
};

/// Arrays go to registers wherever they can: windows, one or several outputs a
/// thread, loaded by each thread, shuffled, or streamed row by row.
std::vector<Plan> windowPlans(BlockFacts &F);

/// One thread an output, all arrays stay: barriers that order less.
std::vector<Plan> barrierPlans(BlockFacts &F);

/// Several outputs a thread, all arrays stay: each element that is read from
/// shared memory serves several outputs.
std::vector<Plan> mergedSlotPlans(BlockFacts &F);

/// A warp stands for a block, and its registers hold what threads hand to each
/// other again and again: trees, scans, recurrences.
std::vector<Plan> ownedPlans(BlockFacts &F);

/// JoinedBlocks.cpp: a physical block stands for several logical ones, along x and
/// y; what these stage alike is staged once.
std::vector<Plan> joinedPlans(BlockFacts &F);

/// All of them.
llvm::ArrayRef<Recipe> allRecipes();

} // namespace rcache

#endif // RCACHE_LIB_PLAN_RECIPES_RECIPES_H
