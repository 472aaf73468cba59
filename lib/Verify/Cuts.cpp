// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops whose rounds several blocks share (LoopCut), in numbers: every round is
// somebody's, once; what the rounds before would have left is filled in; and what a
// block loads for that the thread of the original has loaded by then.

#include "Affine/IslTools.h"
#include "Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace rcache::verify {

/// Calls \p F for each round of the loop, with its number set.
void Verifier::forEachRoundOfCut(const std::function<void(int64_t)> &F) {
  const Stmt &Loop = M.stmt(P.Cut->Loop);
  if (RoundOfCut.is_null())
    RoundOfCut = symbolValue(M.Ctx->ctx(), M.Symbols[Loop.IterSymbol].Id);
  W.forEachRound(Loop.Children[0], static_cast<unsigned>(Loop.Parent), [&] {
    if (const auto Z = W.value(RoundOfCut))
      F(*Z);
  });
}

/// The first rounds of blocks that take \p Share each, as launch and kernel find
/// them: each of \p Rounds is somebody's, once.
std::vector<int64_t> Verifier::sharesOf(const std::vector<int64_t> &Rounds,
                                        int64_t Share) {
  const int64_t Step = *M.stmt(P.Cut->Loop).Step;
  const int64_t All = static_cast<int64_t>(Rounds.size());
  std::vector<int64_t> Firsts, Taken;
  for (int64_t Block = 0; Block < (All - 1) / Share + 1; ++Block) {
    const int64_t From = Rounds.front() + Block * Share * Step;
    Firsts.push_back(From);
    for (int64_t Z = From; std::binary_search(Rounds.begin(), Rounds.end(), Z) &&
                           Z != From + Share * Step;
         Z += Step)
      Taken.push_back(Z);
  }
  count();
  if (Taken != Rounds)
    wrong("blocks of " + std::to_string(Share) + " rounds do not take all " +
          std::to_string(All) + " once");
  return Firsts;
}

/// Is variable \p Var set by a statement of the loop's body before it is asked for?
static bool setFirst(const KernelModel &M, const Stmt &Loop, unsigned Var) {
  // The first use in the text has to set it, in a statement of the body itself.
  const VarUse *First = nullptr;
  for (const VarUse &U : M.VarUses)
    if (U.Var == Var && Loop.Range.contains(U.Range)) {
      First = &U;
      break;
    }
  if (!First)
    return true;
  for (const Effect &E : M.Effects)
    if (E.K == Effect::SetsVariable && E.Target == First->Range &&
        M.text(E.At) == "=")
      for (const Stmt &S : M.Stmts)
        if (S.Range.Begin == First->Range.Begin && S.K == Stmt::Leaf &&
            (S.Parent == static_cast<int>(Loop.Children[0]) ||
             S.Id == Loop.Children[0])) {
          // ... of something else.
          return llvm::none_of(M.VarUses, [&](const VarUse &U) {
            return &U != First && U.Var == Var && S.Range.contains(U.Range);
          });
        }
  return false;
}

/// Each variable that a round takes over is filled in.
void Verifier::everyVariableIsFilled() {
  const LoopCut &C = *P.Cut;
  const Stmt &Loop = M.stmt(C.Loop);
  if (!Loop.AtStart)
    throw WrongPlan{"nobody knows what the rounds take over"};
  for (unsigned H = 0; H < Loop.AtStart->size(); ++H) {
    const Stmt::Held &Of = (*Loop.AtStart)[H];
    const auto It =
        std::find_if(C.Refills.begin(), C.Refills.end(),
                     [&](const LoopCut::Refill &R) { return R.Held == H; });
    count();
    if (It == C.Refills.end()) {
      if (!setFirst(M, Loop, Of.Var))
        throw WrongPlan{"'" + M.Vars[Of.Var].Name +
                        "' is not what the rounds before would have left"};
      continue;
    }
    if (!Of.V || Of.LateRounds > C.LeastRounds || (It->First && Of.LateRounds))
      throw WrongPlan{"'" + M.Vars[Of.Var].Name +
                      "' is no function of so early a round"};
  }
}

/// The loads of \p V that are made here: pointer and element.
void Verifier::loadsOf(const ValueRef &V,
                       std::vector<std::pair<int, int64_t>> &Out) {
  if (V->K == Value::Select)
    return loadsOf(V->Operands[W.holds(V->Cond) ? 0 : 1], Out);
  if (V->K == Value::Load)
    if (const auto At = W.address(*V->Operands[0]))
      Out.push_back({V->Root, *At});
  for (const ValueRef &O : V->Operands)
    loadsOf(O, Out);
}

/// What thread \p T loads to begin with round \p First it has loaded, in the
/// original, in front of that round.
void Verifier::checkRefills(const Thread &T, int64_t First) {
  const Stmt &Loop = M.stmt(P.Cut->Loop);
  W.setThread(T);
  if (!Loop.Domain.is_null() && !W.mayHold(Loop.Domain))
    return; // it has left
  std::set<std::pair<int, int64_t>> Before;
  std::set<int> NotKnown; // some of their addresses are no formulas
  for (const GlobalAccess &G : M.GlobalAccesses) {
    if (G.K != GlobalAccess::Read)
      continue;
    if (!G.Index || G.Index->K != Value::Affine) {
      NotKnown.insert(G.Root);
      continue;
    }
    const auto Note = [&] {
      if (W.mayHold(G.Domain))
        if (const auto At = W.value(G.Index->Aff))
          Before.insert({G.Root, *At});
    };
    if (!Loop.Range.contains(G.Range)) {
      if (M.stmt(G.Stmt).Parent >= 0)
        W.forEachRound(G.Stmt, 0, Note);
      continue;
    }
    forEachRoundOfCut([&](int64_t Z) {
      if (Z < First)
        W.forEachRound(G.Stmt, Loop.Children[0], Note);
    });
  }
  forEachRoundOfCut([&](int64_t Z) {
    if (Z != First)
      return;
    for (const LoopCut::Refill &R : P.Cut->Refills) {
      std::vector<std::pair<int, int64_t>> Loads;
      loadsOf((*Loop.AtStart)[R.Held].V, Loads);
      for (const auto &L : Loads) {
        count();
        if (!NotKnown.count(L.first) && !NotKnown.count(-1) && !Before.count(L))
          wrong("thread " + str(T) + " loads element " +
                std::to_string(L.second) +
                " in front of round " + std::to_string(First) +
                ", which it has not loaded before");
      }
    }
  });
}

void Verifier::checkCut() {
  std::vector<int64_t> Rounds;
  W.setThread({0, 0, 0});
  forEachRoundOfCut([&](int64_t Z) { Rounds.push_back(Z); });
  if (Rounds.empty())
    return; // such a launch runs the original
  std::sort(Rounds.begin(), Rounds.end());
  const int64_t All = static_cast<int64_t>(Rounds.size());
  const auto Counted = W.value(P.Cut->Rounds);
  if (!Counted || *Counted != All)
    wrong("the launch counts " + (Counted ? std::to_string(*Counted) : "no") +
          " rounds of " + std::to_string(All));
  const int64_t Least = std::max<int64_t>(1, P.Cut->LeastRounds);
  for (const int64_t Share : {Least, Least + 1, (All - 1) / 3 + 1}) {
    if (Share < Least)
      continue;
    const std::vector<int64_t> Firsts = sharesOf(Rounds, Share);
    if (Share != Least || P.Cut->Refills.empty())
      continue;
    // The second block, one in the middle, the last.
    for (const int64_t First :
         std::set<int64_t>{Firsts[std::min<size_t>(1, Firsts.size() - 1)],
                           Firsts[Firsts.size() / 2], Firsts.back()}) {
      if (First == Rounds.front())
        continue;
      const Thread Last = {W.block()[0] - 1, W.block()[1] - 1, W.block()[2] - 1};
      checkRefills({0, 0, 0}, First);
      checkRefills({Last[0] / 2, Last[1] / 2, Last[2]}, First);
      checkRefills(Last, First);
    }
  }
}

/// Thread \p First may leave its window as it is: nothing becomes of what its slots
/// read.
void Verifier::checkNotNeeded(const Thread &First) {
  Thread S;
  for (S[2] = 0; S[2] < P.Map.Factor[2]; ++S[2])
    for (S[1] = 0; S[1] < P.Map.Factor[1]; ++S[1])
      for (S[0] = 0; S[0] < P.Map.Factor[0]; ++S[0]) {
        Thread T = First;
        for (unsigned X = 0; X < 3; ++X)
          T[X] += S[X] * P.Map.Stride[X];
        W.setThread(T);
        count();
        bool Reads = false, Stores = !P.Cut;
        for (const unsigned R : A->Reads)
          W.forEachRound(M.SharedAccesses[R].Stmt, A->Barrier, [&] {
            Reads |= W.mayHold(M.SharedAccesses[R].Domain);
          });
        for (const GlobalAccess &G : M.GlobalAccesses)
          if (G.K != GlobalAccess::Read || !G.Index || (G.Index->Depends & DepShared))
            W.forEachRound(G.Stmt, A->Barrier,
                           [&] { Stores |= W.mayHold(G.Domain); });
        if (Reads && Stores)
          wrong("thread " + str(T) + " stores or goes by what it makes of " + name() +
                ", but its registers are not loaded");
      }
  W.setThread(First);
}

} // namespace rcache::verify
