// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which variables differ from slot to slot: those whose values do, and those
// that are modified in code that runs once a slot.

#include "Division.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

namespace {

class SlotVariables {
public:
  SlotVariables(const Queries &Q, Division &D) : Q(Q), M(Q.M), D(D) {}

  void run() {
    if (D.StreamLoop >= 0) {
      // What a round changes or declares is each slot's own.
      const Stmt &L = M.stmt(unsigned(D.StreamLoop));
      D.SlotVars.insert(static_cast<unsigned>(L.IterVar));
      for (const VarUse &U : M.VarUses)
        if (U.Write && L.Range.contains(U.Range))
          demote(U.Var);
    }
    for (unsigned V = 0; V < M.Vars.size(); ++V)
      if (M.Vars[V].Depends & Q.P.Map.slotDependence())
        demote(V);
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (unsigned B : structuralBlocks())
        for (const std::vector<unsigned> &Run : childRuns(B))
          Changed |= demoteIn(Run);
    }
  }

private:
  const Queries &Q;
  const KernelModel &M;
  Division &D;

  bool demote(unsigned V) {
    return !D.isTapIterator(V, M) && D.SlotVars.insert(V).second;
  }

  /// What the slot code of a run of statements modifies or declares.
  bool demoteIn(const std::vector<unsigned> &Run) {
    bool Returned = false, Changed = false;
    for (unsigned C : Run) {
      if (D.Dead.count(C) || D.isUniform(C, Returned, Q))
        continue;
      const Stmt &St = M.stmt(C);
      Returned |= St.HasReturn;
      for (const VarUse &U : M.VarUses)
        if (U.Write && St.Range.contains(U.Range))
          Changed |= demote(U.Var);
      for (unsigned V = 0; V < M.Vars.size(); ++V)
        if (!M.Vars[V].IsParam && St.Range.contains(M.Vars[V].NameRange) &&
            !sharedDeclarator(V, C))
          Changed |= demote(V);
    }
    return Changed;
  }

  std::vector<unsigned> structuralBlocks() const {
    std::vector<unsigned> B;
    for (const Stmt &St : M.Stmts)
      if (St.K == Stmt::Block && D.structural(St.Id))
        B.push_back(St.Id);
    for (const std::set<unsigned> *Heads : {&D.TapLoops, &D.GuardIfs})
      for (unsigned L : *Heads)
        if (!D.structural(M.stmt(L).Children[0]))
          B.push_back(M.stmt(L).Children[0]);
    return B;
  }

  /// The statements between those of control flow.
  std::vector<std::vector<unsigned>> childRuns(unsigned Block) const {
    if (M.stmt(Block).K != Stmt::Block) // the body of a loop, no braces
      return {{Block}};
    std::vector<std::vector<unsigned>> Out(1);
    for (unsigned C : M.stmt(Block).Children) {
      if (!D.structural(C))
        Out.back().push_back(C);
      else if (!Out.back().empty())
        Out.emplace_back();
    }
    return Out;
  }

  /// One of several declarators of \p Decl, with a value that is the same for all
  /// slots: what it is made of does not change, and what changes it later runs once
  /// for all slots (else it is demoted by that).
  bool sharedDeclarator(unsigned V, unsigned Decl) const {
    const Var &Vr = M.Vars[V];
    const Stmt &St = M.stmt(Decl);
    const TextRange R = Vr.InitRange;
    if (Vr.OnlyDeclarator || Vr.AddressTaken || Vr.IsReference ||
        !Vr.ArrayExtents.empty() || Vr.DeclStmt != Decl ||
        !(Vr.DeclRange == St.Range) || R.empty() || St.HasCall ||
        D.SlotVars.count(V) || !D.readsUniform(R, Q) || Q.readsGlobal(R) ||
        !Q.writesOnly(R, nullptr))
      return false;
    for (const VarUse &U : M.VarUses)
      if (R.contains(U.Range) && M.Vars[U.Var].Assigned)
        return false;
    return llvm::none_of(M.Apart, [&](TextRange F) { return R.contains(F); });
  }
};

} // namespace

void rcache::findSlotVars(const Queries &Q, Division &D) {
  SlotVariables(Q, D).run();
}
