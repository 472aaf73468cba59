// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Recipes.h: one warp a block, 32 threads of the block in each slot (round
// robin) or neighbours in the slots of a lane (chunks).

#include "../Assemble.h"
#include "Recipes.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

/// Is memory read in a loop of unknown length without barriers? The slots would
/// run it one after the other, where as many warps ran it at the same time.
static bool walksThroughMemory(const KernelModel &M) {
  return llvm::any_of(M.GlobalAccesses, [&](const GlobalAccess &G) {
    if (G.K == GlobalAccess::Write)
      return false;
    for (int Q = static_cast<int>(G.Stmt); Q >= 0; Q = M.stmt(Q).Parent) {
      const Stmt &S = M.stmt(static_cast<unsigned>(Q));
      if (S.HasBarrier)
        break;
      if (S.K == Stmt::While || S.K == Stmt::Do ||
          (S.K == Stmt::For && !S.ConstTripCount))
        return true;
    }
    return false;
  });
}

/// Are products added up that may be made of shared elements? Of two of them nvcc
/// fuses the one whose values are loaded first; what a warp owns is loaded in no
/// order. What is staged before any exchange keeps its order.
static bool sumsProductsOfShared(const KernelModel &M) {
  return llvm::any_of(M.Apart, [&](TextRange Factor) {
    return llvm::none_of(M.SharedAccesses, [&](const SharedAccess &W) {
      return W.K == SharedAccess::Write && W.StoredRange.contains(Factor) &&
             W.Stored && !(W.Stored->Depends & DepShared);
    });
  });
}

std::vector<Plan> rcache::ownedPlans(BlockFacts &F) {
  std::vector<Plan> Out;
  if (!F.Shape || !F.isOneDim() || (*F.Shape)[0] % 32 != 0 ||
      walksThroughMemory(F.M) ||
      sumsProductsOfShared(F.M))
    return Out;
  const auto Slots = static_cast<unsigned>((*F.Shape)[0] / 32);
  if (Slots > 32 || (F.R.Coarsen && *F.R.Coarsen != Slots))
    return Out;
  std::vector<int64_t> Strides = {32, 1};
  if (Slots == 1)
    Strides = {1};
  for (const int64_t Stride : Strides) {
    if ((Stride == 1 && F.R.Layout == PlanRequest::OnlyCyclic))
      continue;
    Form Fm;
    Fm.X = Slots;
    Fm.StrideX = Stride;
    Fm.OwnAll = true;
    F.withinBudget([&] {
      if (auto P = assemble(F, Fm))
        Out.push_back(std::move(*P));
      return true;
    });
  }
  return Out;
}
