// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which statements are written out as control flow of the thread, with slot
// code inside: what holds a barrier, loops over taps that run outside of their
// slots, and the conditions around these.

#include "Division.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

namespace {

class ControlFlow {
public:
  ControlFlow(const Queries &Q, Division &D) : Q(Q), M(Q.M), P(Q.P), D(D) {}

  void run() {
    for (const ArrayPlan &A : P.Arrays)
      if (const auto *Rows = A.as<StreamedRows>())
        D.StreamLoop = static_cast<int>(Rows->Loop);
    for (const Stmt &St : M.Stmts)
      if (St.HasBarrier || St.Id == 0)
        D.Structural.insert(St.Id);
    if (P.slots() > 1) {
      guardStores();
      if (P.TapsOutside)
        findTapLoops();
    }
    if (D.StreamLoop >= 0 && !D.TapLoops.count(unsigned(D.StreamLoop)))
      D.Error = "the loop over the rows of a tile does more than add up";
  }

private:
  const Queries &Q;
  const KernelModel &M;
  const Plan &P;
  Division &D;

  /// `if (g < n) { ...; out[g] = v; }`: the condition is tested when all slots
  /// have computed, with the store.
  void guardStores() {
    for (const Plan::VectorStore &V : P.VectorStores) {
      const Stmt &St = M.stmt(M.GlobalAccesses[V.Access].Stmt);
      if (St.Parent < 0 || D.structural(static_cast<unsigned>(St.Parent)))
        continue;
      const Stmt &Body = M.stmt(static_cast<unsigned>(St.Parent));
      if (Body.K == Stmt::If && Body.Children.size() == 1)
        makeGuard(Body);
      else
        reachable(St);
    }
  }

  /// Outer loops first: an inner one counts only inside control flow.
  void findTapLoops() {
    for (const Stmt &St : M.Stmts) {
      if (D.Dead.count(St.Id) || St.Parent < 0)
        continue;
      // In a streamed loop each slot has its own round.
      if (D.StreamLoop >= 0 && static_cast<int>(St.Id) != D.StreamLoop) {
        const Stmt &Rows = M.stmt(unsigned(D.StreamLoop));
        if (Rows.Range.contains(St.Range) &&
            Q.uses(St.HeaderRange, Rows.IterVar))
          continue;
      }
      if (isTapLoop(St) && reachable(St)) {
        D.TapLoops.insert(St.Id);
        D.Structural.insert(St.Id);
        if (M.stmt(St.Children[0]).K == Stmt::Block)
          D.Structural.insert(St.Children[0]);
      }
    }
  }

  /// A statement of control flow's block, or of an if that can be a condition
  /// on each slot.
  bool reachable(const Stmt &St) {
    const unsigned Parent = static_cast<unsigned>(St.Parent);
    if (D.structural(Parent))
      return true;
    const Stmt &B = M.stmt(Parent);
    if (B.K == Stmt::If) // no braces
      return makeGuard(B);
    if (B.K != Stmt::Block || B.Parent < 0)
      return false;
    if (!makeGuard(M.stmt(static_cast<unsigned>(B.Parent))))
      return false;
    D.Structural.insert(B.Id);
    return true;
  }

  /// Makes the condition of \p If one that each stretch of slot code inside
  /// tests by itself.
  bool makeGuard(const Stmt &If) {
    if (If.K != Stmt::If || If.Children.size() != 1 || If.HasReturn ||
        If.HasBarrier || If.Parent < 0 ||
        !D.structural(static_cast<unsigned>(If.Parent)) ||
        !Q.repeatable(If.CondRange))
      return false;
    D.GuardIfs.insert(If.Id);
    D.Structural.insert(If.Id);
    return true;
  }

  bool isTapLoop(const Stmt &St) const {
    if (St.K != Stmt::For || St.HasBarrier || St.HasReturn || St.HasCall ||
        St.IterVar < 0 ||
        M.Vars[static_cast<size_t>(St.IterVar)].DeclStmt != St.Id ||
        Q.writesGlobal(St.Range))
      return false;
    if (Q.divides(St.HeaderRange)) // by what a condition around it has asked for
      return false;
    if (P.isUnrolled(St.Id)
            ? !St.ConstTripCount || *St.ConstTripCount < 2 || !M.countsItself(St)
            : !Q.readsKept(St.Range) || !Q.sameForAll(St.HeaderRange))
      return false;
    for (const Stmt &In : M.Stmts)
      if (St.Range.contains(In.Range) &&
          (In.K == Stmt::Break || In.K == Stmt::Continue ||
           In.K == Stmt::While || In.K == Stmt::Do || In.K == Stmt::Switch))
        return false;
    for (const SharedAccess &A : M.SharedAccesses)
      if (St.Range.contains(A.Range) && !Q.isWindowRead(A) && !Q.isKeptRead(A))
        return false;
    for (const Var &V : M.Vars)
      if (V.DynamicIndex)
        return false;
    return changesAreExpandable(St);
  }

  /// What is declared outside and changed inside has one element a slot.
  bool changesAreExpandable(const Stmt &St) const {
    for (const VarUse &U : M.VarUses)
      if (U.Write && St.Range.contains(U.Range)) {
        const Var &V = M.Vars[U.Var];
        if (static_cast<int>(U.Var) == St.IterVar &&
            !St.HeaderRange.contains(U.Range))
          return false;
        if (V.IsParam || V.AddressTaken || V.IsReference)
          return false;
      }
    return true;
  }
};

} // namespace

void rcache::findControlFlow(const Queries &Q, Division &D) {
  ControlFlow(Q, D).run();
}
