// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Division.h.

#include "Division.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace rcache;

int Division::regionOf(unsigned Id, const KernelModel &M) const {
  for (int P = static_cast<int>(Id); P >= 0; P = M.stmt(P).Parent)
    for (size_t R = 0; R < Regions.size(); ++R)
      if (llvm::is_contained(Regions[R].All, unsigned(P)))
        return static_cast<int>(R);
  return -1;
}

const Stmt *Division::tapLoopAround(unsigned Id, const KernelModel &M) const {
  for (int Q = M.stmt(Id).Parent; Q >= 0; Q = M.stmt(Q).Parent)
    if (TapLoops.count(static_cast<unsigned>(Q)))
      return &M.stmt(static_cast<unsigned>(Q));
  return nullptr;
}

bool Division::underGuard(unsigned Id, const KernelModel &M) const {
  for (int Q = M.stmt(Id).Parent; Q >= 0; Q = M.stmt(Q).Parent)
    if (GuardIfs.count(static_cast<unsigned>(Q)))
      return true;
  return false;
}

bool Division::isTapIterator(unsigned V, const KernelModel &M) const {
  for (unsigned L : TapLoops)
    if (static_cast<int>(L) != StreamLoop &&
        M.stmt(L).IterVar == static_cast<int>(V))
      return true;
  return false;
}

bool Division::inDead(TextRange R, const Queries &Q) const {
  for (unsigned S : Dead)
    if (Q.M.stmt(S).Range.contains(R))
      return true;
  for (const Stmt &St : Q.M.Stmts)
    if (St.K == Stmt::Barrier && St.Range.contains(R) &&
        Q.P.scopeOf(St.Id) != SyncScope::Block)
      return true;
  for (unsigned V : DeadVars) {
    const TextRange Init = Q.M.Vars[V].InitRange;
    if (!Init.empty() && Init.contains(R) && !Q.writesGlobal(R) &&
        Q.writesOnly(Init, nullptr))
      return true;
  }
  return false;
}

bool Division::readsUniform(TextRange R, const Queries &Q) const {
  for (const BuiltinUse &B : Q.M.Builtins)
    if (Q.P.Map.ofSlot(B) && R.contains(B.Range) &&
        !Q.inReplaced(B.Range))
      return false;
  for (const VarUse &U : Q.M.VarUses)
    if (R.contains(U.Range) && SlotVars.count(U.Var))
      return false;
  for (unsigned V : SlotVars)
    if (!Q.M.Vars[V].IsParam && R.contains(Q.M.Vars[V].NameRange))
      return false;
  return !Q.touchesShared(R);
}

bool Division::isUniform(unsigned Id, bool Returned, const Queries &Q) const {
  const Stmt &St = Q.M.stmt(Id);
  if (St.HasCall || St.HasGlobalWrite || Q.writesGlobal(St.Range))
    return false;
  // Each slot has its own products where sharing them would change a fusion.
  if (Q.P.slots() > 1)
    for (TextRange F : Q.M.Apart)
      if (St.Range.contains(F))
        return false;
  if (!readsUniform(St.Range, Q))
    return false;
  // Not a load that returned slots would not have done.
  if (Returned && Q.readsGlobal(St.Range))
    return false;
  // A condition in front of it may have kept all slots from a division by 0.
  if (Q.divides(St.Range) &&
      (Returned || underGuard(Id, Q.M) ||
       llvm::any_of(Q.M.Stmts, [&](const Stmt &S) {
         return S.K == Stmt::Return && S.Range.Begin < St.Range.Begin;
       })))
    return false;
  return !(Q.readsPointers(St.Range) &&
           (tapLoopAround(Id, Q.M) || underGuard(Id, Q.M)));
}

bool Division::someSlotsOut(const Region &R, const KernelModel &M) const {
  if (!R.Guards.empty() || ActiveFlags)
    return true;
  return llvm::any_of(RepeatedGuards, [&](unsigned G) {
    return M.stmt(G).Range.Begin < M.stmt(R.All.back()).Range.End;
  });
}

bool rcache::mayStandFirst(const Queries &Q, const Division &D, const Region &R,
                           unsigned Guard) {
  const KernelModel &M = Q.M;
  if (!Q.isRepeatableGuard(M.stmt(Guard)))
    return false;
  // Does \p St more than set variables of its slot, which has them no longer?
  const auto Counts = [&](const Stmt &St) {
    const auto In = [&](const auto &Of) { return St.Range.contains(Of.Range); };
    return St.HasCall || llvm::any_of(M.Effects, [&](const Effect &E) {
             return In(E) && (E.K != Effect::SetsVariable || E.Var < 0 ||
                              M.Vars[unsigned(E.Var)].IsReference ||
                              M.Vars[unsigned(E.Var)].AddressTaken);
           }) ||
           llvm::any_of(M.SharedAccesses, [&](const SharedAccess &A) {
             return In(A) && A.K != SharedAccess::Read;
           }) ||
           llvm::any_of(M.GlobalAccesses, [&](const GlobalAccess &G) {
             return In(G) && (G.K != GlobalAccess::Read || G.Volatile);
           });
  };
  return llvm::none_of(R.Slot, [&](unsigned C) {
    return C < Guard && Counts(M.stmt(C));
  });
}

const SharedAccess *rcache::hiddenTwice(const Queries &Q, const Division &D) {
  const KernelModel &M = Q.M;
  std::map<std::pair<unsigned, std::string>, TextRange> Before;
  std::set<unsigned> Early;
  for (const ArrayPlan &A : Q.P.Arrays)
    if (A.as<ReadEarly>() && M.OwnViews)
      Early.insert(A.Reads.begin(), A.Reads.end());
  for (const SharedAccess &A : M.SharedAccesses) {
    const auto Id = static_cast<unsigned>(&A - M.SharedAccesses.data());
    if (!(Q.isHiddenAlone(A) || Early.count(Id)) || D.inDead(A.Range, Q))
      continue;
    TextRange &Last = Before[{A.Array, M.text(A.Range)}];
    const bool Meets = llvm::none_of(M.Stmts, [&](const Stmt &S) {
      return S.K == Stmt::Barrier && S.Range.Begin >= Last.End &&
             S.Range.End <= A.Range.Begin;
    });
    if (!Last.empty() && Meets)
      return &A;
    Last = A.Range;
  }
  return nullptr;
}

/// Is each element that is read one load, wherever it is? (One that is staged in places alone
/// is asked for there, which is a branch.)
static bool isLoad(const StagingFunction &F) {
  return F.CoverageProved && F.Pieces.size() == 1 && F.Pieces[0].Guards.empty() &&
         F.Pieces[0].V->K == Value::Load &&
         F.Pieces[0].Domain.is_equal(isl::set::universe(F.Pieces[0].Domain.space()));
}

const SharedAccess *rcache::branchInSum(const Queries &Q) {
  for (const ArrayPlan &A : Q.P.Arrays)
    if (A.as<FromSource>() && !isLoad(A.Stage))
      for (unsigned Rd : A.Reads) {
        const SharedAccess &S = Q.M.SharedAccesses[Rd];
        if (llvm::any_of(Q.M.OneBlock, [&](const KernelModel::InOneBlock &B) {
              // (Compilers move sums to where they are used, behind the branch.)
              return B.ToSum.Begin <= S.Range.Begin && !B.Product.contains(S.Range);
            }))
          return &S;
      }
  return nullptr;
}

const SharedAccess *rcache::readsApart(const Queries &Q) {
  const KernelModel &M = Q.M;
  if (!M.OwnViews || M.SummedProducts.empty())
    return nullptr;
  const SharedAccess *Early = nullptr, *InWindow = nullptr;
  for (const ArrayPlan &A : Q.P.Arrays)
    for (unsigned R : A.Reads) {
      const SharedAccess &S = M.SharedAccesses[R];
      if (llvm::any_of(M.SummedProducts,
                       [&](TextRange P) { return P.empty() || P.contains(S.Range); }))
        (A.as<ReadEarly>() ? Early : InWindow) = &S;
    }
  return InWindow ? Early : nullptr;
}

const ArrayPlan *rcache::knownElements(const Queries &Q) {
  const auto IsKnown = [](const StagePiece &Piece) {
    return Piece.V->Depends == DepNone;
  };
  if (Q.M.OwnViews || !Q.M.Apart.empty())
    for (const ArrayPlan &A : Q.P.Arrays)
      if (A.isStaged() && !A.inShared() && !A.Stage.Pieces.empty() &&
          llvm::all_of(A.Stage.Pieces, IsKnown))
        return &A;
  return nullptr;
}

/// Do slots that are there run \p R alone?
static bool isGuarded(const Region &R, const KernelModel &M, const Division &D) {
  return !R.Speculative &&
         (D.someSlotsOut(R, M) ||
          llvm::any_of(R.Slot, [&](unsigned S) { return M.stmt(S).HasReturn; }));
}

/// The regions with a statement of slots that \p Use stands in.
static std::set<int> regionsOf(TextRange Use, const KernelModel &M, const Division &D) {
  std::set<int> Out;
  for (size_t R = 0; R < D.Regions.size(); ++R)
    if (llvm::any_of(D.Regions[R].Slot,
                     [&](unsigned S) { return M.stmt(S).Range.contains(Use); }))
      Out.insert(int(R));
  return Out;
}

const Var *rcache::scaledAfterGuard(const Queries &Q, const Division &D) {
  const KernelModel &M = Q.M;
  for (unsigned V : M.ScaledVars) {
    std::set<int> Set;
    if (const Var &X = M.Vars[V]; X.DeclStmt > 0 && !X.InitRange.empty())
      Set.insert(D.regionOf(X.DeclStmt, M));
    for (const VarUse *U : Q.usesOf(V))
      if (U->Write)
        Set.merge(regionsOf(U->Range, M, D));
    for (const VarUse *U : Q.usesOf(V))
      for (int In : regionsOf(U->Range, M, D))
        if (llvm::any_of(Set, [&](int R) {
              return R >= 0 && R != In && isGuarded(D.Regions[size_t(R)], M, D);
            }))
          return &M.Vars[V];
  }
  return nullptr;
}

const Var *rcache::productUnderGuard(const Queries &Q, const Division &D) {
  const KernelModel &M = Q.M;
  for (unsigned V : M.ProductVars) {
    std::set<int> Regions;
    for (const VarUse *U : Q.usesOf(V))
      Regions.merge(regionsOf(U->Range, M, D));
    if (const Var &X = M.Vars[V]; X.DeclStmt > 0)
      Regions.insert(D.regionOf(X.DeclStmt, M));
    Regions.erase(-1);
    if (Regions.size() > 1 &&
        llvm::any_of(Regions, [&](int R) { return isGuarded(D.Regions[size_t(R)], M, D); }))
      return &M.Vars[V];
  }
  return nullptr;
}
