// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Queries.h.

#include "Queries.h"
#include "Plan/Counts.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

Queries::Queries(const KernelModel &M, const Plan &P, std::set<unsigned> Made)
    : M(M), P(P), Made(std::move(Made)), Uses(M.Vars.size()) {
  for (const ArrayPlan &A : P.Arrays)
    if (!A.isShared())
      RegisterArrays.insert(A.Array);
  for (const ArrayPlan &A : P.Arrays)
    if (A.isShared())
      RegisterArrays.erase(A.Array);
  for (const SharedAccess &A : M.SharedAccesses)
    if (RegisterArrays.count(A.Array))
      Replaced.push_back(A.Range);
  for (const PairedInterval &I : P.Paired)
    for (unsigned If : I.Met)
      Replaced.push_back(M.stmt(If).CondRange);
  for (unsigned I = 0; I < M.GlobalAccesses.size(); ++I)
    if (isCollected(I) && !isSingleStore(I))
      Replaced.push_back(M.GlobalAccesses[I].Range);
  for (const VarUse &U : M.VarUses)
    Uses[U.Var].push_back(&U);
}

//===--- Memory ---===//

bool Queries::writesGlobal(TextRange R) const {
  return llvm::any_of(M.GlobalAccesses, [&](const GlobalAccess &G) {
    return G.K != GlobalAccess::Read && R.contains(G.Range);
  });
}

bool Queries::readsGlobal(TextRange R) const {
  return llvm::any_of(M.GlobalAccesses, [&](const GlobalAccess &G) {
    return G.K != GlobalAccess::Write && R.contains(G.Range);
  });
}

bool Queries::readsPointers(TextRange R) const {
  for (const GlobalAccess &G : M.GlobalAccesses) {
    if (G.K == GlobalAccess::Write || !R.contains(G.Range))
      continue;
    if (G.Root >= 0 || (G.Index && (G.Index->Depends & DepThread)))
      return true;
    for (const VarUse &U : M.VarUses)
      if (U.Range.Begin == G.Range.Begin)
        return true; // through a local pointer; else an array of the file
    for (const BuiltinUse &B : M.Builtins)
      if (G.Range.contains(B.Range))
        return true;
  }
  return false;
}

bool Queries::touchesShared(TextRange R) const {
  return llvm::any_of(M.SharedAccesses, [&](const SharedAccess &A) {
    return R.contains(A.Range);
  });
}

bool Queries::readsKept(TextRange R) const {
  return llvm::any_of(M.SharedAccesses, [&](const SharedAccess &A) {
    return R.contains(A.Range) && isKeptRead(A);
  });
}

bool Queries::isKeptRead(const SharedAccess &A) const {
  return A.K == SharedAccess::Read &&
         (!RegisterArrays.count(A.Array) || isRestaged(A.Array));
}

std::string rcache::slotExtents(const Plan &P) {
  std::string T;
  for (unsigned Axis = 3; Axis-- > 0;)
    if (P.hasSlots(Axis))
      T += "[" + std::to_string(P.Map.Factor[Axis]) + "]";
  return T;
}

const ArrayPlan *rcache::tileRead(const Plan &P, unsigned Access) {
  const auto Of = llvm::find_if(P.Arrays, [&](const ArrayPlan &A) {
    return A.as<Restaged>() && llvm::is_contained(A.Reads, Access);
  });
  return Of == P.Arrays.end() ? nullptr : &*Of;
}

bool Queries::isRestaged(unsigned Array) const {
  return llvm::any_of(P.Arrays, [&](const ArrayPlan &A) {
    return A.Array == Array && A.as<Restaged>();
  });
}

bool Queries::isWindowRead(const SharedAccess &A) const {
  for (const ArrayPlan &Pl : P.Arrays)
    for (const WindowRead &W : Pl.registerReads())
      if (&M.SharedAccesses[W.Access] == &A)
        return true;
  return false;
}

bool Queries::isStagingWrite(const Stmt &S) const {
  return S.K == Stmt::Leaf &&
         llvm::any_of(M.SharedAccesses, [&](const SharedAccess &A) {
           return A.K == SharedAccess::Write && A.Stmt == S.Id &&
                  RegisterArrays.count(A.Array) && !P.owned(A.Array);
         });
}

bool Queries::isHiddenAlone(const SharedAccess &A) const {
  return !isWindowRead(A) &&
         (RegisterArrays.count(A.Array)
              ? M.OwnViews && A.K == SharedAccess::Read && M.Arrays[A.Array].ElemBytes > 0
              : P.slots() > 1 && slotsSeeAlone(M, A));
}

bool Queries::isCollected(unsigned Access) const {
  return llvm::any_of(P.VectorStores, [&](const Plan::VectorStore &V) {
    return V.holds(Access);
  });
}

bool Queries::isSingleStore(unsigned Access) const {
  for (const Plan::VectorStore &V : P.VectorStores)
    if (V.holds(Access))
      return V.Bytes == M.GlobalAccesses[V.Access].ElemBytes;
  return false;
}

bool Queries::isFileArrayRead(const GlobalAccess &G) const {
  return G.K == GlobalAccess::Read && !readsPointers(G.Range);
}

//===--- Variables ---===//

bool Queries::inReplaced(TextRange R) const {
  return llvm::any_of(Replaced, [&](TextRange A) { return A.contains(R); });
}

const std::vector<const VarUse *> &Queries::usesOf(unsigned V) const {
  return Uses[V];
}

bool Queries::uses(TextRange R, int V) const {
  return V >= 0 && llvm::any_of(Uses[static_cast<size_t>(V)],
                                [&](const VarUse *U) {
                                  return R.contains(U->Range);
                                });
}

bool Queries::writesOnly(TextRange R, const std::set<unsigned> *Only) const {
  for (const VarUse &U : M.VarUses)
    if (U.Write && R.contains(U.Range) && !(Only && Only->count(U.Var)))
      return false;
  return !writesGlobal(R);
}

bool Queries::isMade(unsigned V) const {
  if (!Made.count(V))
    return false;
  const TextRange Scope = M.stmt(M.Vars[V].Scope).Range;
  for (const Stmt &St : M.Stmts)
    if (St.K == Stmt::Barrier && Scope.contains(St.Range))
      return true;
  for (const SharedAccess &A : M.SharedAccesses)
    if (A.K == SharedAccess::Read && Scope.contains(A.Range))
      return true;
  for (unsigned I = 0; I < M.GlobalAccesses.size(); ++I)
    if (isCollected(I) && Scope.contains(M.GlobalAccesses[I].Range))
      return true;
  return false;
}

//===--- Statements ---===//

bool Queries::declaresArray(const Stmt &S) const {
  return llvm::any_of(M.Arrays, [&](const SharedArray &A) {
    return !A.AtFileScope && A.DeclRange == S.Range;
  });
}

bool Queries::sameForAll(TextRange R) const {
  for (const BuiltinUse &B : M.Builtins)
    if (P.Map.ofSlot(B) && R.contains(B.Range))
      return false;
  for (const VarUse &U : M.VarUses)
    if (R.contains(U.Range) &&
        (M.Vars[U.Var].Depends & P.Map.slotDependence()))
      return false;
  return !touchesShared(R) && !readsGlobal(R) && !writesGlobal(R);
}

bool Queries::divides(TextRange R) const {
  return llvm::any_of(M.Divisors,
                      [&](TextRange D) { return D.contains(R) || R.contains(D); });
}

bool Queries::repeatable(TextRange R) const {
  for (const VarUse &U : M.VarUses)
    if (R.contains(U.Range)) {
      const Var &V = M.Vars[U.Var];
      if (U.Write || V.Assigned || (!V.IsParam && !V.Repeatable))
        return false;
    }
  return !readsGlobal(R) && !writesGlobal(R) && !touchesShared(R);
}

bool Queries::isRepeatableGuard(const Stmt &S) const {
  if (S.K != Stmt::If || S.Children.size() != 1 || S.HasCall)
    return false;
  const Stmt *Then = &M.stmt(S.Children[0]);
  while (Then->K == Stmt::Block && Then->Children.size() == 1)
    Then = &M.stmt(Then->Children[0]);
  return Then->K == Stmt::Return && repeatable(S.CondRange);
}
