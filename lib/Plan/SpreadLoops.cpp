// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SpreadLoops.h.

#include "SpreadLoops.h"
#include "Counts.h"
#include "Affine/IslTools.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

std::optional<LoopValues> rcache::sharedOutValues(const KernelModel &M,
                                                  const Assumptions &A,
                                                  const Stmt &L) {
  if (!L.Cooperative || L.IterSymbol < 0 || L.IterDomain.is_null())
    return std::nullopt;
  isl::pw_aff I = symbolValue(M.Ctx->ctx(), M.Symbols[size_t(L.IterSymbol)].Id);
  const isl::set Values = A.fix(L.IterDomain).intersect(A.Context);
  auto Lo = minConst(I, Values), Hi = maxConst(I, Values);
  if (!Lo || !Hi || *Hi < *Lo || *Hi - *Lo >= 1024)
    return std::nullopt;
  // Whatever else the values hang on, they begin with this one.
  const std::vector<std::string> Iter = {M.Symbols[size_t(L.IterSymbol)].Id};
  const isl::set First = Values.intersect(I.eq_set(constantValue(I.ctx(), *Lo)));
  if (!projectOut(Values, Iter).is_subset(projectOut(First, Iter)))
    return std::nullopt;
  return LoopValues{*Lo, *Hi - *Lo + 1};
}

Nullable<isl::pw_aff> rcache::passedIn(const KernelModel &M, const Assumptions &A,
                                       const Stmt &L) {
  if (!L.Cooperative || L.CooperativeAxes != DepThreadX || L.IterSymbol < 0 ||
      L.IterDomain.is_null() || L.Init.is_null())
    return {};
  const isl::ctx Ctx = M.Ctx->ctx();
  const isl::pw_aff First = A.fix(L.Init).sub(symbolValue(Ctx, "tx")).coalesce();
  if (dependsOn(First, "tx"))
    return {};
  return symbolValue(Ctx, M.Symbols[size_t(L.IterSymbol)].Id).sub(First);
}

std::optional<LoopBound> rcache::boundOfRounds(const KernelModel &M, const Assumptions &A,
                                               const Stmt &L, int64_t Threads,
                                               int64_t Rounds) {
  const Nullable<isl::pw_aff> Passed = passedIn(M, A, L);
  if (Passed.is_null())
    return std::nullopt;
  const isl::ctx Ctx = M.Ctx->ctx();
  const isl::set Values = A.fix(L.IterDomain).intersect(A.Context);
  const isl::pw_aff I = symbolValue(Ctx, M.Symbols[size_t(L.IterSymbol)].Id);
  if (!constantUnder(I.sub(Passed), Values))
    return std::nullopt; // blocks begin at different places
  // [parameters] -> { : there is a value of a further round }
  const isl::set Further =
      Values.intersect(isl::pw_aff(Passed).ge_set(constantValue(Ctx, Rounds * Threads)));
  const std::vector<std::string> Ids = involvedIds(Further);
  for (const std::string &Id : Ids) {
    const int S = M.symbolIndex(Id);
    if (S < 0 || M.Symbols[size_t(S)].K != Symbol::Param)
      continue;
    std::vector<std::string> Others;
    llvm::copy_if(Ids, std::back_inserter(Others),
                  [&](const std::string &O) { return O != Id; });
    const auto Least = minConst(symbolValue(Ctx, Id), projectOut(Further, Others));
    if (Least && *Least > 1)
      return LoopBound{M.Symbols[size_t(S)].Text, *Least - 1};
  }
  return std::nullopt;
}

namespace {

/// If \p Jump is taken in one round, it is taken in the next: its condition
/// says so, and nothing of a round is stored before it.
bool takenEverAfter(const KernelModel &M, const Assumptions &A, const Stmt &L,
                    const Stmt &Jump) {
  for (const GlobalAccess &G : M.GlobalAccesses)
    if (G.K != GlobalAccess::Read && L.Range.contains(G.Range) &&
        G.Range.Begin < Jump.Range.Begin)
      return false;
  for (const SharedAccess &S : M.SharedAccesses)
    if (S.K != SharedAccess::Read && L.Range.contains(S.Range) &&
        S.Range.Begin < Jump.Range.Begin)
      return false;
  isl::set Taken = A.fix(L.IterDomain);
  for (int P = Jump.Parent; P != static_cast<int>(L.Id);
       P = M.stmt(unsigned(P)).Parent) {
    const Stmt &Q = M.stmt(unsigned(P));
    if (Q.K == Stmt::Block)
      continue;
    if (Q.K != Stmt::If || Q.Cond.is_null() ||
        !M.stmt(Q.Children[0]).Range.contains(Jump.Range))
      return false;
    Taken = Taken.intersect(A.fix(Q.Cond));
  }
  const std::string &Id = M.Symbols[size_t(L.IterSymbol)].Id;
  isl::ctx Ctx = M.Ctx->ctx();
  const int64_t Step = L.Step && *L.Step < 0 ? -1 : 1;
  const isl::pw_aff Next = symbolValue(Ctx, Id).add(constantValue(Ctx, Step));
  const Substitution InNext{{Id, Next}};
  return impliedBy(substitute(Taken, InNext),
                   Taken.intersect(substitute(A.fix(L.IterDomain), InNext))
                       .intersect(A.Context));
}

} // namespace

std::optional<std::vector<unsigned>>
rcache::jumpsThatEndRounds(const KernelModel &M, const Assumptions &A,
                           const Stmt &L) {
  std::vector<unsigned> Jumps;
  for (const Stmt &S : M.Stmts) {
    if (!L.Range.contains(S.Range))
      continue;
    const bool Leaves = S.K == Stmt::Return;
    if (!Leaves && S.K != Stmt::Break && S.K != Stmt::Continue)
      continue;
    const int Loop = loopAround(M, S.Id);
    if (Loop != static_cast<int>(L.Id)) {
      if (Leaves)
        return std::nullopt;
      continue; // of a loop inside
    }
    for (int P = S.Parent; P != static_cast<int>(L.Id);
         P = M.stmt(unsigned(P)).Parent)
      if (M.stmt(unsigned(P)).K == Stmt::Switch)
        return std::nullopt;
    if (S.K != Stmt::Continue && !takenEverAfter(M, A, L, S))
      return std::nullopt;
    Jumps.push_back(S.Id);
  }
  if (Jumps.empty())
    return Jumps;
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Barrier && S.Range.Begin >= L.Range.End)
      return std::nullopt;
  for (const GlobalAccess &G : M.GlobalAccesses)
    if (G.K != GlobalAccess::Read && G.Range.Begin >= L.Range.End)
      return std::nullopt;
  for (const SharedAccess &S : M.SharedAccesses)
    if (S.K != SharedAccess::Read && S.Range.Begin >= L.Range.End)
      return std::nullopt;
  return Jumps;
}

bool rcache::meetInRounds(const KernelModel &M, const Assumptions &As,
                          const SharedAccess &A, const SharedAccess &B,
                          const Stmt &L) {
  if (!A.Affine || !B.Affine || A.Index.size() != B.Index.size() ||
      A.Domain.is_null() || B.Domain.is_null())
    return true;
  isl::ctx Ctx = M.Ctx->ctx();
  // The second write's counters, which are others than the first one's.
  Substitution Other;
  for (const Symbol &S : M.Symbols)
    if (S.K == Symbol::Iterator)
      Other.emplace(S.Id, symbolValue(Ctx, S.Id + "_other"));
  const std::string &Id = M.Symbols[size_t(L.IterSymbol)].Id;
  isl::set Meeting = As.fix(A.Domain)
                         .intersect(substitute(As.fix(B.Domain), Other))
                         .intersect(As.Context)
                         .intersect(symbolValue(Ctx, Id).ne_set(Other.at(Id)));
  for (size_t D = 0; D < A.Index.size(); ++D)
    Meeting = Meeting.intersect(
        equalTo(As.fix(A.Index[D]), substitute(As.fix(B.Index[D]), Other)));
  return !Meeting.is_empty();
}

bool rcache::usesCounterOnly(const KernelModel &M, const Stmt &L,
                             unsigned Axis) {
  const TextRange Body = {L.HeaderRange.End, L.Range.End};
  for (const BuiltinUse &U : M.Builtins)
    if (U.K == Symbol::ThreadIdx && U.Axis == Axis && Body.contains(U.Range))
      return false;
  for (const VarUse &U : M.VarUses) {
    const Var &V = M.Vars[U.Var];
    if (static_cast<int>(U.Var) == L.IterVar || !Body.contains(U.Range))
      continue;
    const bool Inside = !V.IsParam && Body.contains(M.stmt(V.DeclStmt).Range);
    if (!Inside && (U.Write || (V.Depends & (DepThreadX << Axis))))
      return false;
  }
  return true;
}
