// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Recipes.h.

#include "../Assemble.h"
#include "../finish/Finish.h"
#include "../placements/StreamedRows.h"
#include "Recipes.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

/// Factors along x: a thread's outputs fill one to four vectors.
static std::vector<unsigned> factors(const BlockFacts &F) {
  if (F.R.Coarsen)
    return {*F.R.Coarsen};
  unsigned Bytes = 1;
  for (unsigned A = 0; A < F.M.Arrays.size(); ++A)
    if (!F.K.Groups[A].Reason)
      Bytes = std::max(Bytes, F.M.Arrays[A].ElemBytes);
  std::vector<unsigned> All;
  for (unsigned C : {16u, 8u, 4u, 2u, 1u})
    if ((C < 16 || Bytes <= 2) && (C == 1 || C * Bytes <= 64) &&
        (!F.Shape || (*F.Shape)[0] % C == 0))
      All.push_back(C);
  return All;
}

/// Factors along y, beside \p X along x: rows of a tile share most of their
/// window. Many of them where a thread has few columns.
static std::vector<unsigned> rowFactors(const BlockFacts &F, unsigned X) {
  const bool Rows = F.Shape && !F.R.Coarsen && !F.isOneDim() &&
                    F.K.usesAxis(1) && F.R.Layout == PlanRequest::AnyLayout;
  std::vector<unsigned> All;
  for (unsigned C : {16u, 8u, 4u, 2u, 1u})
    if (C == 1 ||
        (Rows && (C <= 4 || C * X <= 16) && (*F.Shape)[1] % C == 0))
      All.push_back(C);
  return All;
}

/// The plans of one form: rows streamed, the slots inside of the loops over
/// taps, one slot after the other. False: its windows are too large to be held,
/// smaller ones might do better.
static bool addPlans(BlockFacts &F, const Form &Fm, std::vector<Plan> &Out) {
  auto P = assemble(F, Fm);
  if (!P)
    return true;
  if (Fm.MaxWindow > MaxHeldWindow)
    if (auto S = streamRows(F.M, *P, MaxHeldWindow)) {
      dropSingleStores(F.M, *S);
      Out.push_back(std::move(*S));
    }
  if (llvm::any_of(P->Arrays, [](const ArrayPlan &A) {
        return registersHeld(A) > MaxHeldWindow;
      }))
    return false;
  if (!P->UnrolledLoops.empty() && Fm.X > 1) {
    Plan Q = *P;
    Q.TapsOutside = true;
    dropSingleStores(F.M, Q);
    Out.push_back(std::move(Q));
  }
  Out.push_back(std::move(*P));
  return true;
}

std::vector<Plan> rcache::windowPlans(BlockFacts &F) {
  std::vector<Plan> Out;
  for (unsigned X : factors(F))
    for (unsigned Rows : rowFactors(F, X))
      for (bool Shuffle : {true, false}) {
        if (Shuffle && !F.isOneDim())
          continue;
        Form Fm;
        Fm.X = X;
        Fm.Rows = Rows;
        Fm.StrideX = F.R.Layout == PlanRequest::OnlyCyclic ? 32 : 1;
        Fm.Shuffle = Shuffle;
        auto Add = [&] { return addPlans(F, Fm, Out); };
        if (!F.isOneDim()) {
          // Larger windows when their rows can be streamed.
          Fm.MaxWindow = MaxStreamedWindow;
          if (F.withinBudget(Add))
            continue;
          Fm.MaxWindow = MaxHeldWindow;
        }
        F.withinBudget(Add);
      }
  return Out;
}
