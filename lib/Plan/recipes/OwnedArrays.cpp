// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Recipes.h: one warp a block, 32 threads of the block in each slot (round
// robin) or neighbours in the slots of a lane (chunks).

#include "../Assemble.h"
#include "Recipes.h"
#include "llvm/ADT/STLExtras.h"
#include "rcache/OwnRounds.h"
#include "rcache/OwnedArrays.h"

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
          (S.K == Stmt::For && !S.ConstTripCount && !hasFewRounds(M, S)))
        return true;
    }
    return false;
  });
}

/// Are products added up that may be made of shared elements? Of two of them nvcc
/// fuses the one whose values are loaded first; what a warp owns is loaded in no
/// order. What is staged before any exchange keeps its order.
static bool sumsProductsOfShared(const KernelModel &M) {
  return llvm::any_of(M.SummedProducts, [&](TextRange Product) {
    return llvm::none_of(M.SharedAccesses, [&](const SharedAccess &W) {
      return W.K == SharedAccess::Write && W.StoredRange.contains(Product) &&
             W.Stored && !(W.Stored->Depends & DepShared);
    });
  });
}

/// Why no array of the kernel is owned, whatever its accesses are; "": nothing.
static std::string whyNone(const BlockFacts &F) {
  if (!F.Shape)
    return "the number of threads of a block is not known";
  if (!F.isOneDim())
    return "blocks have several dimensions";
  if ((*F.Shape)[0] % 32 != 0)
    return "blocks of " + std::to_string((*F.Shape)[0]) +
           " threads are no whole warps";
  if (walksThroughMemory(F.M))
    return "memory is read in a loop of unknown length, which needs all warps";
  if (sumsProductsOfShared(F.M))
    return "products are added to each other, or beside a number that is doubled: "
           "which of them is fused hangs on the order of loads, unless the kernel says it "
           "with fmaf or __fmul_rn, or -fmad=false does";
  return "";
}

/// Where every array can be in windows, none has to be owned.
static bool areStaged(const BlockFacts &F) {
  return F.K.RegisterArrays == F.M.Arrays.size() &&
         llvm::none_of(F.Out.Declines, [](const Decline &D) {
           return D.Code == DeclineCode::ComputedExchange;
         });
}

bool rcache::mayBeOwnedButForSums(const KernelModel &M) {
  return !M.Arrays.empty() && !walksThroughMemory(M) && sumsProductsOfShared(M);
}

std::vector<Plan> rcache::ownedPlans(BlockFacts &F) {
  std::vector<Plan> Out;
  if (areStaged(F))
    return Out;
  if (std::string Why = whyNone(F); !Why.empty()) {
    F.Out.NotOwned = std::move(Why);
    return Out;
  }
  const auto Slots = static_cast<unsigned>((*F.Shape)[0] / 32);
  if (Slots > 32 || (F.R.Coarsen && *F.R.Coarsen != Slots))
    return Out;
  std::vector<int64_t> Strides = {32, 1};
  if (Slots == 1)
    Strides = {1};
  for (const int64_t Stride : Strides) {
    if (Slots > 1 && F.R.Layout == (Stride == 1 ? PlanRequest::OnlyCyclic : PlanRequest::OnlyChunked))
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
