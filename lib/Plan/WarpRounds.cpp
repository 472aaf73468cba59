// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See WarpRounds.h. The counter's values are numbers, from the first one until
// the loop's condition fails; what is not known for certain leaves the loop as
// it is.

#include "WarpRounds.h"
#include "Affine/IslTools.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

isl::pw_aff rcache::threadNumber(isl::ctx Ctx,
                                 const std::array<int64_t, 3> &Block) {
  return symbolValue(Ctx, "tx")
      .add(symbolValue(Ctx, "ty").scale(long(Block[0])))
      .add(symbolValue(Ctx, "tz").scale(long(Block[0] * Block[1])));
}

namespace {

class Finder {
public:
  Finder(const KernelModel &M, const Assumptions &A, const Stmt &Loop)
      : M(M), A(A), Loop(Loop), Ctx(M.Ctx->ctx()) {}

  std::optional<WarpRounds> run() {
    if ((Loop.K != Stmt::For && Loop.K != Stmt::While) || !Loop.HasBarrier ||
        !Loop.Factor || *Loop.Factor >= 0 || Loop.FactorSymbol < 0 ||
        Loop.Init.is_null() || Loop.Cond.is_null() || Loop.CondRange.empty())
      return std::nullopt;
    const std::optional<unsigned> Barrier = onlyBarrier();
    if (!Barrier || !isPlain(*Barrier) || !counterEnds())
      return std::nullopt;
    const std::vector<int64_t> Values = values();
    // The first of the rounds from which on all are the first warp's.
    size_t From = Values.size();
    while (From > 0 && isOfFirstWarp(Values[From - 1], *Barrier))
      --From;
    if (From == 0 || Values.size() - From < LeastRounds)
      return std::nullopt;
    WarpRounds R;
    R.Loop = Loop.Id;
    R.Barrier = *Barrier;
    R.First = Values[From];
    R.Rounds = static_cast<unsigned>(Values.size() - From);
    R.Before = static_cast<unsigned>(From);
    R.Open = goesOn(*Barrier);
    return R;
  }

private:
  static constexpr size_t LeastRounds = 2, MostRounds = 64;
  const KernelModel &M;
  const Assumptions &A;
  const Stmt &Loop;
  const isl::ctx Ctx;

  /// A barrier that every round comes to, and no other in the loop; nor may a
  /// round end elsewhere than at its end.
  std::optional<unsigned> onlyBarrier() const {
    if (Loop.Children.size() != 1)
      return std::nullopt;
    std::optional<unsigned> R;
    for (const Stmt &S : M.Stmts) {
      if (S.Id == Loop.Id || !Loop.Range.contains(S.Range))
        continue;
      if (S.K == Stmt::Return || S.K == Stmt::Break || S.K == Stmt::Continue ||
          S.K == Stmt::Switch || S.IsCondition)
        return std::nullopt;
      if (S.K != Stmt::Barrier)
        continue;
      const bool Always = S.Parent == static_cast<int>(Loop.Children[0]) &&
                          M.stmt(Loop.Children[0]).K == Stmt::Block;
      if (R || !Always ||
          (S.Sync != Stmt::Syncthreads && S.Sync != Stmt::CooperativeGroup))
        return std::nullopt;
      R = S.Id;
    }
    return R;
  }

  /// Does the round do more behind \p Barrier than to count?
  bool goesOn(unsigned Barrier) const {
    return llvm::any_of(M.stmt(Loop.Children[0]).Children, [&](unsigned C) {
      const Stmt &S = M.stmt(C);
      const auto Counts = [&](const Effect &E) {
        return !S.Range.contains(E.Range) ||
               (E.K == Effect::SetsVariable && E.Var == Loop.FactorVar);
      };
      const bool Step = S.K == Stmt::Leaf && llvm::all_of(M.Effects, Counts) &&
                        !S.HasSharedAccess && !S.HasGlobalRead && !S.HasCall;
      return S.Range.Begin >= M.stmt(Barrier).Range.End && !Step;
    });
  }

  /// Can the body stand there twice? No array begins its life in it, no lanes
  /// exchange registers, no product is added that a compiler might fuse in one
  /// of two texts, and the header declares the counter alone.
  bool isPlain(unsigned Barrier) const {
    auto In = [&](TextRange R) { return !R.empty() && Loop.Range.contains(R); };
    return Loop.Range.contains(M.stmt(Barrier).Range) &&
           llvm::none_of(M.Arrays, [&](auto &X) { return In(X.DeclRange); }) &&
           llvm::none_of(M.Vars, [&](const Var &V) {
             return &V != &M.Vars[size_t(Loop.FactorVar)] && !V.NameRange.empty() &&
                    Loop.InitRange.contains(V.NameRange);
           }) &&
           llvm::none_of(M.LaneExchanges,
                         [&](auto &X) { return In(X.Range); }) &&
           llvm::none_of(M.SummedProducts, In);
  }

  /// Does nothing but the loop ask what its counter is, when it is through?
  bool counterEnds() const {
    const auto V = static_cast<unsigned>(Loop.FactorVar);
    return llvm::all_of(M.VarUses, [&](const VarUse &U) {
      return U.Var != V || Loop.Range.contains(U.Range) ||
             (U.Range.Begin < Loop.Range.Begin && !isAround(U.Range));
    });
  }
  /// Is there a loop around this one and \p R?
  bool isAround(TextRange R) const {
    for (int Q = Loop.Parent; Q >= 0; Q = M.stmt(unsigned(Q)).Parent)
      if (const Stmt &S = M.stmt(unsigned(Q));
          S.isLoop() && S.Range.contains(R))
        return true;
    return false;
  }

  isl::set counterIs(int64_t V) const {
    return symbolValue(Ctx, M.Symbols[size_t(Loop.FactorSymbol)].Id)
        .eq_set(constantValue(Ctx, V));
  }

  /// The counter's, a round each; empty: not known.
  std::vector<int64_t> values() const {
    std::vector<int64_t> R;
    const isl::pw_aff Init = A.fix(Loop.Init);
    const auto First = minConst(Init, A.Context);
    if (!First || First != maxConst(Init, A.Context))
      return {};
    const isl::set Cond = A.fix(Loop.Cond);
    for (int64_t V = *First;; V /= -*Loop.Factor) {
      const isl::set Now = A.Context.intersect(counterIs(V));
      if (V <= 0 || Now.intersect(Cond).is_empty())
        return R;
      if (R.size() == MostRounds || !Now.is_subset(Cond))
        return {};
      R.push_back(V);
    }
  }

  /// Does all that a round with \p Counter changes belong to the first 32
  /// threads?
  bool isOfFirstWarp(int64_t Counter, unsigned Barrier) const {
    const isl::set Others =
        A.Context.intersect(counterIs(Counter))
            .intersect(
                threadNumber(Ctx, *A.Block).ge_set(constantValue(Ctx, 32)));
    return llvm::all_of(M.Effects, [&](const Effect &E) {
      if (!Loop.Range.contains(E.Range) ||
          M.stmt(Barrier).Range.contains(E.Range) || isOfRound(E))
        return true;
      const Stmt &In = innermost(E.Range);
      return In.Id != Loop.Id && !In.Domain.is_null() &&
             Others.intersect(A.fix(In.Domain)).is_empty();
    });
  }

  /// The counter's step, and what is set of a variable that the round declares.
  bool isOfRound(const Effect &E) const {
    if (E.K != Effect::SetsVariable || E.Var < 0)
      return false;
    const Var &V = M.Vars[size_t(E.Var)];
    return E.Var == Loop.FactorVar ||
           (!V.AddressTaken && !V.IsReference && !V.NameRange.empty() &&
            M.stmt(Loop.Children[0]).Range.contains(V.NameRange));
  }

  const Stmt &innermost(TextRange R) const {
    const Stmt *In = &Loop;
    for (const Stmt &S : M.Stmts) // in text order: the inner ones behind
      if (S.Range.contains(R))
        In = &S;
    return *In;
  }
};

} // namespace

std::vector<WarpRounds> rcache::warpRounds(const KernelModel &M,
                                           const Assumptions &A) {
  std::vector<WarpRounds> Out;
  if (!A.Block || ((*A.Block)[0] * (*A.Block)[1] * (*A.Block)[2]) % 32 != 0)
    return Out;
  for (const Stmt &S : M.Stmts)
    if (S.isLoop() && llvm::none_of(Out, [&](const WarpRounds &R) {
          return M.stmt(R.Loop).Range.contains(S.Range);
        }))
      if (auto R = Finder(M, A, S).run())
        Out.push_back(*R);
  return Out;
}
