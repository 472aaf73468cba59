// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Planner.h. Facts once a kernel and block shape (Facts.h), recipes that
// make plans of them (recipes/Recipes.h), passes that finish a plan
// (finish/Finish.h).

#include "Planner.h"
#include "Affine/IslTools.h"
#include "Facts.h"
#include "Interleave.h"
#include "Legality.h"
#include "rcache/SpreadOutputs.h"
#include "rcache/WarpTails.h"
#include "recipes/Recipes.h"
#include "llvm/ADT/STLExtras.h"
#include <iterator>
#include <set>

using namespace rcache;

/// Declines of the model that no plan gets around; empty: there are none.
static std::vector<Decline> declinesOfModel(const KernelModel &M) {
  if (!M.Arrays.empty() || (M.SharesInCalls && !M.Declines.empty()))
    return M.Declines;
  // A model that ends early knows no arrays.
  std::vector<Decline> Early;
  for (const Decline &D : M.Declines)
    if (has(D.Code, TraitHeadOnly))
      Early.push_back(D);
  if (Early.empty())
    Early.push_back({DeclineCode::NoShared, "", M.Pos});
  return Early;
}

std::optional<Decline> rcache::movedPointer(const KernelModel &M) {
  for (const GlobalAccess &G : M.GlobalAccesses) {
    if (G.Root < 0 || M.Params[static_cast<size_t>(G.Root)].VarId < 0)
      continue;
    const Var &V = M.Vars[static_cast<size_t>(
        M.Params[static_cast<size_t>(G.Root)].VarId)];
    if (V.Assigned || V.AddressTaken)
      return Decline{DeclineCode::NameNotVisible,
                     "'" + V.Name + "' is moved in the kernel", G.Pos,
                     "move a copy of it: a variable that starts as '" + V.Name +
                         "'"};
  }
  return std::nullopt;
}

/// Why the slots of a thread cannot run the kernel's statements.
static std::vector<Decline> declinesOfSlots(const KernelModel &M) {
  std::vector<Decline> All;
  if (auto D = slotability(M))
    All.push_back(*D);
  if (All.empty() || All[0].Code != DeclineCode::DivergentBarrier)
    if (auto D = convergence(M))
      All.push_back(*D);
  return All;
}

/// The plans of the first block shape that has any of worth; those that leave
/// all arrays where they are stay beside what a later shape has.
static std::vector<Plan> plansOf(const KernelFacts &K, Findings &Found) {
  std::vector<Plan> All;
  for (const BlockShape &Shape : K.shapes()) {
    BlockFacts F(K, Shape, Found);
    for (const Recipe &R : allRecipes()) {
      if (!R.Applies(K))
        continue;
      F.resetTooHard();
      for (Plan &P : R.Plans(F))
        All.push_back(std::move(P));
    }
    if (!llvm::all_of(All, [](const Plan &P) { return P.allShared(); }))
      break;
  }
  return All;
}

/// What keeps an array of computed values in shared memory is what keeps a warp
/// from owning it.
static void explainExchange(std::vector<Decline> &Declines,
                            const Findings &Found) {
  if (Found.NotOwned.empty())
    return;
  for (Decline &D : Declines)
    if (D.Code == DeclineCode::ComputedExchange && D.Advice.empty())
      D.Advice = "a warp could hold the array, but " + Found.NotOwned;
}

/// An array that is handed on in a warp without barriers: that is the reason.
static void explainTail(std::vector<Decline> &Declines, const KernelModel &M) {
  const auto Step = countsOnStep(M);
  if (!Step)
    return;
  for (Decline &D : Declines)
    if (D.Code == DeclineCode::ComputedExchange ||
        D.Code == DeclineCode::VolatileArray)
      D = *Step;
  Declines.erase(std::unique(Declines.begin(), Declines.end()), Declines.end());
}

static PlanOutcome plan(const KernelModel &M, const PlanRequest &R) {
  PlanOutcome Out;
  Out.Declines = declinesOfModel(M);
  if (Out.Declines.empty())
    if (auto Moved = movedPointer(M))
      Out.Declines.push_back(std::move(*Moved));
  if (!Out.Declines.empty())
    return Out;
  KernelFacts K(M, R);
  Findings Found;
  Out.Declines = declinesOfSlots(M);
  const bool Slots = Out.Declines.empty();
  // Behind a statement that cannot be written, what no plan gets around.
  if (!Slots && Out.Declines[0].Code != DeclineCode::UnsupportedStatement)
    return Out;
  K.collectGroups(Found);
  if (!Slots || (K.RegisterArrays == 0 && !K.mayOwn())) {
    if (Slots || !K.ArrayReasons.empty())
      Out.Declines = K.ArrayReasons;
    explainTail(Out.Declines, M);
    Out.Notes = std::move(Found.Notes);
    return Out;
  }
  K.Order = globalOrder(M, R.AssumeNoAlias);
  Out.Candidates = plansOf(K, Found);
  Out.Notes = std::move(Found.Notes);
  if (Out.Candidates.empty()) {
    if (Found.Declines.empty())
      Found.Declines = K.ArrayReasons;
    if (Found.Declines.empty())
      Found.decline({DeclineCode::BlockShape, K.shapesTried(), M.Pos});
    Out.Declines = std::move(Found.Declines);
    explainExchange(Out.Declines, Found);
    explainTail(Out.Declines, M);
  } else if (llvm::all_of(Out.Candidates,
                          [](const Plan &P) { return P.allShared(); })) {
    // Why no array can leave shared memory: of interest when merging slots
    // alone gains nothing.
    Out.WhyShared = K.ArrayReasons;
    Out.WhyShared.insert(Out.WhyShared.end(), Found.Declines.begin(),
                         Found.Declines.end());
    explainExchange(Out.WhyShared, Found);
    explainTail(Out.WhyShared, M);
  }
  return Out;
}

/// Why parameter \p Name is not the number that launches pass (FixedArguments.h).
static std::string whyNoNumber(const KernelModel &M, llvm::StringRef Name) {
  std::set<int64_t> Seen;
  for (size_t P = 0; P < M.Params.size(); ++P)
    if (M.Params[P].Name == Name)
      for (const LaunchSite &L : M.Launches)
        if (P < L.ArgValues.size())
          Seen.insert(L.ArgValues[P].begin(), L.ArgValues[P].end());
  if (Seen.empty())
    return "no launch in the file tells its value";
  std::string Values;
  for (int64_t V : Seen)
    Values += (Values.empty()            ? ""
               : V == *std::prev(Seen.end()) ? " and "
                                             : ", ") +
              std::to_string(V);
  return "launches pass " + Values +
         (Seen.size() > 1 ? ""
                          : ", but it is large, or a compiler that knows it might "
                            "round otherwise or leave out branches");
}

std::string rcache::adviceOnWindows(const KernelModel &M) {
  for (const SharedAccess &A : M.SharedAccesses) {
    if (A.K != SharedAccess::Read || !A.Affine)
      continue;
    for (int P = static_cast<int>(A.Stmt); P >= 0; P = M.stmt(P).Parent) {
      const Stmt &Loop = M.stmt(P);
      if (Loop.IterSymbol < 0 || Loop.HasBarrier || Loop.ConstTripCount ||
          Loop.Cooperative || Loop.IterDomain.is_null())
        continue;
      const std::string &I = M.Symbols[Loop.IterSymbol].Id;
      if (llvm::none_of(A.Index, [&](const isl::pw_aff &X) {
            return dependsOn(X, I) &&
                   (dependsOn(X, "tx") || dependsOn(X, "ty") ||
                    dependsOn(X, "tz"));
          }))
        continue;
      for (const std::string &Id : involvedIds(Loop.IterDomain))
        if (const int S = M.symbolIndex(Id);
            S >= 0 && M.Symbols[S].K == Symbol::Param)
          return "the rounds of '" + M.text(Loop.HeaderRange) + "' hang on '" +
                 M.Symbols[S].Text + "' (" + whyNoNumber(M, M.Symbols[S].Text) +
                 "): as a constant or a template argument, "
                 "the elements that a thread reads can be in registers";
    }
  }
  return "";
}

std::string rcache::adviceOnCounters(const KernelModel &M, const Decline &D) {
  const size_t Begin = D.Detail.find('\''),
               End = D.Detail.find('\'', Begin + 1);
  if (D.Code != DeclineCode::EffectsNotKept || End == std::string::npos)
    return "";
  const std::string Effect = D.Detail.substr(Begin + 1, End - Begin - 1);
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::For && S.HasBarrier &&
        M.text(S.InitRange).find(Effect) != std::string::npos)
      return "declare the loop's counter in its header: what it held before "
             "was a value of the thread";
  return "";
}

PlanOutcome rcache::enumeratePlans(const KernelModel &M, const PlanRequest &R) {
  M.Ctx->resetBudget();
  M.Ctx->startClock();
  PlanOutcome Out;
  if (R.Staging) {
    auto Result = guarded([&] {
      const AffineContext::Limit Within(*M.Ctx);
      return plan(M, R);
    });
    if (Result)
      Out = std::move(*Result);
    else
      Out.Declines.push_back(
          {DeclineCode::TooHard, llvm::toString(Result.takeError()), M.Pos});
  } else {
    Out.Declines.push_back({DeclineCode::NotSelected, "--only", M.Pos});
  }
  if (R.Private)
    addInterleaved(M, R, Out);
  return Out;
}
