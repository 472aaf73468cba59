// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Further kernels beside the chosen one, for launches that its plan leaves: grids
// that are too small for it, pointers that are not aligned, other blocks. The
// launch function asks one condition after the other; the original runs what is
// left.

#include "Predict/Alignment.h"
#include "Predict/Grids.h"
#include "Unit.h"
#include "rcache/OwnRounds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace rcache;

/// Blocks that launches of \p M have, or may have, besides \p Chosen: those
/// that are seen and, where some launch does not tell and \p Guess, the usual
/// ones that every array has an element a thread for.
static std::vector<std::array<int64_t, 3>>
furtherBlocks(const KernelModel &M, const std::array<int64_t, 3> &Chosen,
              bool Guess) {
  std::set<std::array<int64_t, 3>> All;
  for (const auto &B : M.Geo.SeenBlocks)
    if (B[1] == 1 && B[2] == 1)
      All.insert(B);
  if (Guess && !M.Geo.AllLaunchesConst) {
    int64_t Most = M.Geo.MaxThreads.value_or(1024);
    for (const SharedArray &A : M.Arrays)
      if (A.Extents.size() == 1 && A.Extents[0] && *A.Extents[0] >= 32)
        Most = std::min(Most, *A.Extents[0]);
    for (int64_t X : {128, 256, 512, 1024})
      if (X <= Most)
        All.insert({X, 1, 1});
  }
  All.erase(Chosen);
  return {All.begin(), All.end()};
}

void Unit::emitOthers(Case &C, const std::vector<Case> &Group,
                      const std::vector<Plan> &Candidates,
                      const Plan *ForUnaligned, const Plan *ForSmallGrids) {
  if (O.Candidate)
    return;
  if (ForSmallGrids && ForSmallGrids != ForUnaligned) {
    Plan P = *ForSmallGrids;
    if (ForUnaligned) {
      P.Aligned = alignedRuns(*C.M, P);
      P.AlignedHasOther = !P.Aligned.empty();
    }
    const auto I = size_t(ForSmallGrids - Candidates.data());
    emitOther(C, *C.M, std::move(P), "_rc_small", "in smaller grids",
              C.R.Chosen->Candidates[I].Speedup);
  }
  if (ForUnaligned)
    emitOther(C, *C.M, *ForUnaligned, "_rc_unaligned",
              "where vectors would not start at multiples of 16 bytes",
              C.R.Chosen->UnalignedSpeedup);
  else if (Group.size() == 1)
    emitForAnyBlock(C, Candidates);
  emitForBlocks(C);
}

const Plan *
Unit::bestBeside(const Case &C, const std::vector<Plan> &Candidates,
                 llvm::function_ref<bool(const Plan &, const Candidate &)> Serves) const {
  const Plan *Best = nullptr;
  double Rank = 0;
  for (size_t I = 0; I < Candidates.size(); ++I) {
    const Plan &P = Candidates[I];
    const Candidate &Figures = C.R.Chosen->Candidates[I];
    if (static_cast<int>(I) == C.R.Chosen->Chosen || !Serves(P, Figures) || !gains(P) ||
        !Figures.Failed.empty() || Figures.Rank <= Rank)
      continue;
    Best = &P;
    Rank = Figures.Rank;
  }
  return Best;
}

const Plan *Unit::planForSmallGrids(const Case &C, Plan &P,
                                    const std::vector<Plan> &Candidates) const {
  // 16 outputs a thread and fewer warps than hide what they wait for: up to a million
  // outputs, an image of bytes. Below, launches are over before much is gained.
  constexpr unsigned Many = 16, Fewer = 4;
  if (!P.LeastThreads || P.Cut || P.SpeedupFrom == Plan::Measured)
    return nullptr;
  const Plan *Best = nullptr;
  Plan Large = P;
  if (P.Map.joins() && !O.LeftOut.count(freshName(*C.M, "_rc_small"))) {
    const auto Own = size_t(&P - Candidates.data());
    if (const auto Other = forSmallerGrids(*C.M, *C.R.Chosen, Own, Candidates, arch())) {
      Best = &Candidates[Other->Plan];
      Large.LeastThreads = Other->LeastThreads;
      Large.SpeedupOfBlocks = Other->SpeedupOfBlocks;
    }
  } else if (!P.Map.joins() && P.slots() >= Many)
    Best = bestBeside(C, Candidates, [&](const Plan &Q, const Candidate &Figures) {
      return Q.LeastThreads && !Q.Cut && Q.slots() * Fewer <= P.slots() &&
             Q.Map.Block == P.Map.Block && Q.Map.BlockMultiple <= P.Map.BlockMultiple &&
             Figures.Excluded.empty();
    });
  auto Serves = [&](const LaunchSite &L) {
    return !L.knownBlocks() || (Large.isTooLargeFor(L) && !Best->isTooLargeFor(L));
  };
  if (!Best || !gains(*Best) ||
      (!C.M->Launches.empty() && llvm::none_of(C.M->Launches, Serves)))
    return nullptr;
  P.LeastThreads = Large.LeastThreads;
  P.GridHasOther = true;
  P.SpeedupOfBlocks = std::move(Large.SpeedupOfBlocks);
  return Best;
}

void Unit::emitForAnyBlock(Case &C, const std::vector<Plan> &Candidates) {
  const KernelModel &M = *C.M;
  const unsigned Multiple = C.ThePlan->Map.BlockMultiple;
  if (C.ThePlan->Map.Block || Multiple <= 32)
    return;
  if (M.Geo.AllLaunchesConst &&
      llvm::all_of(M.Geo.SeenBlocks,
                   [&](const auto &B) { return B[0] % Multiple == 0; }))
    return;
  const Plan *Best = bestBeside(C, Candidates, [](const Plan &P, const Candidate &) {
    return !P.Map.Block && P.Map.BlockMultiple <= 8;
  });
  if (Best)
    emitOther(C, M, *Best, "_rc_any_block",
              "blocks that are no multiple of " + std::to_string(Multiple) +
                  " threads");
}

void Unit::emitForBlocks(Case &C) {
  const KernelModel &M = *C.M;
  if (!C.ThePlan->Map.Block)
    return;
  auto Emit = [&](const KernelModel &In, const std::array<int64_t, 3> &Block) {
    PlanRequest R = planRequest(O);
    R.OnlyBlock = Block;
    PlanOutcome Out = enumeratePlans(In, R);
    const std::optional<Plan> P = bestOf(In, Out.Candidates);
    if (!P || !gains(*P))
      return;
    const auto [X, Y, Z] = Block;
    std::string Text = std::to_string(X), Name = Text;
    if (Y * Z != 1) {
      Text += " x " + std::to_string(Y);
      Name += "x" + std::to_string(Y);
    }
    if (Z != 1) {
      Text += " x " + std::to_string(Z);
      Name += "x" + std::to_string(Z);
    }
    emitOther(C, In, *P, "_rc_block" + Name, "blocks of " + Text + " threads");
  };
  if (!M.Geo.ConstBlock) {
    const std::array<int64_t, 3> Own = *C.ThePlan->Map.Block;
    if (Own[1] == 1 && Own[2] == 1)
      for (const auto &Block : furtherBlocks(M, Own, !O.AssumedBlock))
        Emit(M, Block);
    return;
  }
  // Of several dimensions: the model itself is one shape's.
  for (const auto &Block : M.Geo.OtherBlocks)
    if (const ModelPtr In = InBlocks(M, Block); In && In->Text == M.Text)
      Emit(*In, Block);
}

void Unit::emitOther(Case &C, const KernelModel &M, Plan P,
                     const std::string &Suffix, const std::string &When,
                     double Speedup) {
  const std::string Name = freshName(M, Suffix);
  if (O.LeftOut.count(Name)) {
    C.R.Notes.push_back(When + ": the original, as no launch could be made up that takes "
                               "the rewritten form");
    return;
  }
  damage(M, P);
  if (verifyPlan(M, P, quickly()).K == VerifyOutcome::Wrong && O.Mutate.empty())
    return;
  auto E = Inserted.emit(M, P, Name);
  if (!E)
    return llvm::consumeError(E.takeError());
  damage(*E);
  C.Others.push_back(std::move(*E));
  C.OtherPlans.push_back(P);
  C.R.OtherForms.push_back(Name);
  const std::string Line = planLine(M, P);
  std::string Note =
      When + ": " + (Line == planLine(*C.M, *C.ThePlan) ? "the same" : Line);
  if (Speedup > 0)
    Note += llvm::formatv("; predicted speed-up {0:F2}x", Speedup);
  C.R.Notes.push_back(std::move(Note));
}

/// Why \p L passes more than the text of \p M is for (TextForm::AtMost); "": it may not.
static std::string passesMore(const KernelModel &M, const LaunchSite &L) {
  for (const auto &[Name, Most] : M.Form.AtMost)
    if (const auto Least = passedAbove(M, L, Name, Most); Least && !L.InTemplate)
      return llvm::formatv("it passes {0} = {1}, and the rewritten form is for at most {2}",
                           Name, *Least, Most);
  return "";
}

std::string Unit::whyNeverAt(const Case &C, const LaunchSite &L) {
  if (std::string Why = passesMore(*C.M, L); !Why.empty())
    return Why;
  int64_t Least = C.ThePlan->leastBlocks(L.ConstBlock);
  if (!C.ThePlan->isTooLargeFor(L))
    return "";
  for (const Plan &P : C.OtherPlans) {
    if (!P.isTooLargeFor(L))
      return "";
    Least = std::min(Least, P.leastBlocks(L.ConstBlock));
  }
  const double Blocks = *L.knownBlocks();
  return llvm::formatv("its grid has {0} block{1}, and the rewritten form is for {2} and more",
                       int64_t(Blocks), Blocks == 1 ? "" : "s", Least);
}

void Unit::leaveSmallLaunches(Case &C) {
  const auto &Launches = C.M->Launches;
  if (Launches.empty())
    return;
  std::vector<Decline> All;
  for (const LaunchSite &L : Launches) {
    if (!L.Editable)
      continue;
    std::string Why = whyNeverAt(C, L);
    if (Why.empty())
      return;
    All.push_back({DeclineCode::LaunchTooSmall, std::move(Why), L.Pos});
  }
  if (All.empty())
    return;
  leave(C);
  C.R.Declines = std::move(All);
}
