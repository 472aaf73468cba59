// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Speculation.h.

#include "Speculation.h"
#include "Division.h"
#include "Affine/IslTools.h"
#include "Plan/Staging.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

namespace {

Assumptions assumed(const KernelModel &M, const Plan &P) {
  Assumptions A = makeAssumptions(M, P.Map.Block, P.Map.BlockMultiple);
  if (!P.Context.is_null())
    A.Context = A.Context.intersect(P.Context);
  return A;
}

/// The values that the iterators around \p R take.
isl::set rounds(TextRange R, const KernelModel &M, const Assumptions &A) {
  isl::set Out = A.Context;
  for (const Stmt &St : M.Stmts)
    if (St.K == Stmt::For && St.Range.contains(R) && !St.Cooperative &&
        !St.IterDomain.is_null())
      Out = Out.intersect(A.fix(St.IterDomain));
  return Out;
}

bool isWithin(const SharedAccess &R, llvm::ArrayRef<int64_t> Extents, const KernelModel &M,
              const Assumptions &A) {
  if (!R.Affine || R.K != SharedAccess::Read || R.Index.size() != Extents.size())
    return false;
  const isl::set Points = rounds(R.Range, M, A);
  for (size_t D = 0; D < R.Index.size(); ++D) {
    isl::ctx Ctx = Points.ctx();
    if (!impliedBy(inRange(A.fix(R.Index[D]), constantValue(Ctx, 0),
                           constantValue(Ctx, Extents[D])),
                   Points))
      return false;
  }
  return true;
}

/// In every thread of the block, whatever the conditions around it are.
bool isInArray(const SharedAccess &R, const KernelModel &M, const Assumptions &A) {
  const SharedArray &Array = M.Arrays[R.Array];
  std::vector<int64_t> Extents;
  for (const auto &E : Array.Extents)
    if (E)
      Extents.push_back(*E);
  return !Array.Dynamic && isWithin(R, Extents, M, A); // (one that is not known is missing)
}

class Judge {
public:
  Judge(const Stmt &Loop, const KernelModel &M, const Plan &P,
        const std::set<unsigned> &SlotVars, const std::set<unsigned> &Registers)
      : Loop(Loop), M(M), Map(P.Map), SlotVars(SlotVars), Registers(Registers),
        Restages(P.Map.joins()), A(assumed(M, P)) {}

  Speculation run() {
    if (!headersUniform())
      return Speculation::No;
    // Constant memory, at a place that all slots agree on.
    for (const GlobalAccess &G : M.GlobalAccesses)
      for (const VarUse &U : M.VarUses)
        if (Loop.Range.contains(G.Range) && G.Range.contains(U.Range) &&
            SlotVars.count(U.Var) &&
            (M.Vars[U.Var].Depends & Map.slotDependence()))
          return Speculation::No;
    if (llvm::any_of(M.Divisors, [&](TextRange D) {
          return D.contains(Loop.Range) || Loop.Range.contains(D);
        })) // a slot that is not there may have 0
      return Speculation::No;
    bool Always = true;
    for (const SharedAccess &R : M.SharedAccesses) {
      if (!Loop.Range.contains(R.Range) ||
          (Registers.count(R.Array) && !Restages) ||
          (isInArray(R, M, A) && (!decides() || isWritten(R))))
        continue;
      if (!sameForAll(R))
        return Speculation::No;
      Always = false;
    }
    if (Always)
      return Speculation::Yes;
    return onlySlotVarsLeave() ? Speculation::IfAnySlot : Speculation::No;
  }

private:
  const Stmt &Loop;
  const KernelModel &M;
  const Mapping &Map;
  const std::set<unsigned> &SlotVars, &Registers;
  const bool Restages; ///< what is in Registers is in shared memory
  Assumptions A;

  /// Counts a loop in here.
  bool counts(unsigned V) const {
    for (const Stmt &St : M.Stmts)
      if (St.K == Stmt::For && Loop.Range.contains(St.Range) &&
          St.IterVar == static_cast<int>(V) && St.IterSymbol >= 0)
        return true;
    return false;
  }

  /// The same value in all slots.
  bool uniform(TextRange R) const {
    for (const BuiltinUse &B : M.Builtins)
      if (Map.ofSlot(B) && R.contains(B.Range))
        return false;
    for (const VarUse &U : M.VarUses)
      if (R.contains(U.Range) &&
          (U.Write || (SlotVars.count(U.Var) && !counts(U.Var))))
        return false;
    for (const SharedAccess &S : M.SharedAccesses)
      if (R.contains(S.Range))
        return false;
    return true;
  }

  /// How often a loop runs does not hang on a slot's data.
  bool headersUniform() const {
    for (const Stmt &St : M.Stmts) {
      if (St.Id == Loop.Id || !Loop.Range.contains(St.Range))
        continue;
      if (St.K == Stmt::While || St.K == Stmt::Do || St.K == Stmt::Switch)
        return false;
      if (St.K != Stmt::For || St.ConstTripCount)
        continue;
      if (St.IterSymbol < 0)
        return false;
      for (const BuiltinUse &B : M.Builtins)
        if (Map.ofSlot(B) && St.HeaderRange.contains(B.Range))
          return false;
      for (const VarUse &U : M.VarUses)
        if (St.HeaderRange.contains(U.Range) &&
            static_cast<int>(U.Var) != St.IterVar && SlotVars.count(U.Var))
          return false;
      for (const SharedAccess &S : M.SharedAccesses)
        if (St.HeaderRange.contains(S.Range))
          return false;
      for (const GlobalAccess &G : M.GlobalAccesses)
        if (St.HeaderRange.contains(G.Range))
          return false;
    }
    return true;
  }

  /// Do shared elements decide about a statement?
  bool decides() const {
    return llvm::any_of(M.Stmts, [](const Stmt &S) {
      return S.K != Stmt::Leaf && (S.CondDepends & DepShared);
    });
  }

  /// The elements that \p S names in the rounds and threads of \p In, as "e0", "e1", ...
  isl::set elements(const SharedAccess &S, isl::set In) const {
    std::vector<std::string> Gone = {"tx", "ty", "tz"};
    for (const Symbol &X : M.Symbols)
      if (X.K == Symbol::Iterator)
        Gone.push_back(X.Id);
    for (size_t D = 0; D < S.Index.size(); ++D)
      In = In.intersect(
          A.fix(S.Index[D]).eq_set(symbolValue(In.ctx(), "e" + std::to_string(D))));
    return projectOut(In, Gone);
  }

  /// Has each element that \p R names in any thread been written before? What has not may
  /// decide nothing, not even about what is not stored.
  bool isWritten(const SharedAccess &R) const {
    isl::set Written = never(A.Context.ctx());
    for (const SharedAccess &W : M.SharedAccesses)
      if (W.Array == R.Array && W.K == SharedAccess::Write && W.Affine && W.DomainExact &&
          !W.Domain.is_null() && W.Range.End <= R.Range.Begin &&
          W.Index.size() == R.Index.size())
        Written = Written.unite(elements(W, A.fix(W.Domain).intersect(A.Context)));
    return elements(R, rounds(R.Range, M, A)).is_subset(Written);
  }

  /// What one slot reads, all of them read, in the same rounds.
  bool sameForAll(const SharedAccess &R) const {
    if (R.K != SharedAccess::Read || !uniform({R.Range.Begin + 1, R.Range.End}))
      return false;
    for (const ValueRef &V : R.IndexValues)
      if (!V || V->Depends & (Map.slotDependence() | DepGlobal))
        return false;
    if (R.Domain.is_null() || Loop.Domain.is_null() || !R.DomainExact)
      return false;
    return impliedBy(A.fix(R.Domain),
                     rounds(R.Range, M, A).intersect(A.fix(Loop.Domain)));
  }

  /// A thread that skips the loop has the same uniform values as the others.
  bool onlySlotVarsLeave() const {
    for (const VarUse &U : M.VarUses) {
      if (!U.Write || !Loop.Range.contains(U.Range) || SlotVars.count(U.Var))
        continue;
      const Var &V = M.Vars[U.Var];
      if (V.IsParam || !Loop.Range.contains(V.NameRange))
        return false;
    }
    return true;
  }
};

} // namespace

Speculation rcache::speculationOf(const Stmt &Loop, const KernelModel &M,
                                  const Plan &P,
                                  const std::set<unsigned> &SlotVars,
                                  const std::set<unsigned> &Registers) {
  return Judge(Loop, M, P, SlotVars, Registers).run();
}

bool rcache::isWithin(const SharedAccess &R, llvm::ArrayRef<int64_t> Extents,
                      const KernelModel &M, const Plan &P) {
  return ::isWithin(R, Extents, M, assumed(M, P));
}

/// Its declaration gives it a value in all slots.
static bool setForAll(unsigned V, const KernelModel &M, const Division &D) {
  if (M.Vars[V].InitRange.empty())
    return false;
  for (const Region &R : D.Regions)
    if (llvm::is_contained(R.All, M.Vars[V].DeclStmt))
      return R.Speculative || !D.someSlotsOut(R, M);
  return false;
}

/// What speculation asks for: that some slot is there, and that what the
/// others compute with has been set.
void rcache::prepareSpeculation(const Queries &Q, Division &D) {
  const KernelModel &M = Q.M;
  for (const Region &R : D.Regions) {
    const Stmt *L = D.tapLoopAround(R.All.front(), M);
    if (!L || !R.Speculative || !D.someSlotsOut(R, M))
      continue;
    auto Known = D.Judged.find(L->Id);
    if (Known != D.Judged.end() && Known->second == Speculation::IfAnySlot)
      D.IfAnySlot.insert(L->Id);
    for (const VarUse &U : M.VarUses)
      if (D.VarHome[U.Var] == Home::Expanded && L->Range.contains(U.Range) &&
          !setForAll(U.Var, M, D))
        D.Zeroed.insert(U.Var);
  }
}
