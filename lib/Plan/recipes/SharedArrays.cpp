// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Recipes.h: plans that leave the arrays where they are.

#include "../Assemble.h"
#include "Recipes.h"

using namespace rcache;

/// May a thread stand for X x Y threads of blocks of this shape? Both axes, as
/// far as the kernel uses them; whole warps are left.
static bool fits(const BlockFacts &F, unsigned X, unsigned Y) {
  const bool Rows = F.Shape && !F.isOneDim() && F.K.usesAxis(1);
  if (X * Y > 16 || (Y > 1 && !Rows))
    return false;
  if (F.R.Coarsen && *F.R.Coarsen != (Rows && X == 1 ? Y : X))
    return false;
  return !F.Shape ||
         ((*F.Shape)[0] % X == 0 && (*F.Shape)[1] % Y == 0 &&
          (*F.Shape)[0] * (*F.Shape)[1] * (*F.Shape)[2] / (X * Y) >= 32);
}

static void addPlan(BlockFacts &F, unsigned X, unsigned Y,
                    std::vector<Plan> &Out) {
  if (!fits(F, X, Y))
    return;
  Form Fm;
  Fm.X = X;
  Fm.Rows = Y;
  // Slots along x lie apart, so that a warp's accesses stay contiguous.
  Fm.StrideX = X == 1 ? 1 : F.Shape ? (*F.Shape)[0] / X : 32;
  Fm.KeepAll = true;
  Fm.OnlyBarriers = X * Y == 1;
  F.withinBudget([&] {
    if (auto P = assemble(F, Fm))
      Out.push_back(std::move(*P));
    return true;
  });
}

std::vector<Plan> rcache::barrierPlans(BlockFacts &F) {
  std::vector<Plan> Out;
  addPlan(F, 1, 1, Out);
  return Out;
}

std::vector<Plan> rcache::mergedSlotPlans(BlockFacts &F) {
  std::vector<Plan> Out;
  for (unsigned X : {1u, 2u, 4u, 8u})
    for (unsigned Y : {1u, 2u, 4u, 8u, 16u})
      if (X * Y > 1)
        addPlan(F, X, Y, Out);
  return Out;
}
