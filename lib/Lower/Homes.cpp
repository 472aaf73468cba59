// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where variables live that differ from slot to slot, and how slots that have
// returned are told from the others.

#include "Division.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

namespace {

class Homes {
public:
  Homes(const Queries &Q, Division &D) : Q(Q), M(Q.M), D(D) {}

  void placeVars() {
    D.VarHome.assign(M.Vars.size(), Home::Local);
    for (unsigned V = 0; V < M.Vars.size(); ++V)
      place(V);
    // What a repeated declaration uses must be there as well.
    for (unsigned V = 0; V < M.Vars.size(); ++V)
      if (D.VarHome[V] == Home::Repeated)
        repeatWhatItUses(V);
  }

  void placeReturns() {
    std::vector<unsigned> Guards;
    bool Flags = false;
    for (size_t R = 0; R < D.Regions.size(); ++R)
      for (unsigned C : D.Regions[R].Slot) {
        const Stmt &St = M.stmt(C);
        if (!St.HasReturn)
          continue;
        if (returnsFromLoop(St))
          D.Error = "a return inside a loop or a switch";
        if (mayStandFirst(Q, D, D.Regions[R], C))
          Guards.push_back(C);
        else if (R + 1 != D.Regions.size())
          Flags = true;
      }
    if (Flags)
      D.ActiveFlags = true;
    else
      D.RepeatedGuards = Guards;
    std::vector<TextRange> Repeated; // text that stands in several places
    for (unsigned G : D.RepeatedGuards)
      Repeated.push_back(M.stmt(G).CondRange);
    for (unsigned G : D.GuardIfs)
      Repeated.push_back(M.stmt(G).CondRange);
    for (unsigned I = 0; I < M.GlobalAccesses.size(); ++I)
      if (Q.isSingleStore(I))
        Repeated.push_back(M.GlobalAccesses[I].Range);
    for (TextRange R : Repeated)
      for (const VarUse &U : M.VarUses)
        if (R.contains(U.Range))
          repeat(U.Var);
  }

private:
  const Queries &Q;
  const KernelModel &M;
  Division &D;

  void place(unsigned V) {
    const Var &Vr = M.Vars[V];
    if (Vr.IsParam) {
      // A parameter that slots modify would need a copy a slot.
      D.VarHome[V] = Home::Uniform;
      if (D.SlotVars.count(V) && Vr.Assigned)
        D.Error = "the parameter '" + Vr.Name +
                  "' is modified by threads, or has a function called on it that may";
      return;
    }
    if (!D.SlotVars.count(V)) {
      D.VarHome[V] = Home::Uniform;
      for (const Region &R : D.Regions)
        if (llvm::is_contained(R.Slot, Vr.DeclStmt) &&
            Vr.DeclRange == M.stmt(Vr.DeclStmt).Range && !D.DeadVars.count(V))
          D.Hoisted.insert(V);
      return;
    }
    if (D.StreamLoop >= 0 &&
        M.stmt(unsigned(D.StreamLoop)).IterVar == static_cast<int>(V))
      return; // declared with each row of slots
    const int Own = D.regionOf(Vr.DeclStmt, M);
    const Reach R = reachOf(V, Own);
    if (!R.Outside)
      return;
    // In the header of a loop with barriers slot 0 speaks for all.
    if ((Vr.Repeatable || isDeclaredAgain(V)) && !R.ControlFlow) {
      D.VarHome[V] = Home::Repeated;
      return;
    }
    D.VarHome[V] = Home::Expanded;
    if (Vr.IsReference || Vr.AddressTaken)
      D.Error =
          "'" + Vr.Name + "' is used by address, and a thread of several outputs "
                          "would need one for each";
    if (Own < 0)
      D.Error = "'" + Vr.Name + "' is declared in the header of a loop with "
                                "barriers and differs between threads";
  }

  /// Is it used in runs of statements alone, for which it is declared again?
  bool isDeclaredAgain(unsigned V) const {
    return llvm::all_of(Q.usesOf(V), [&](const VarUse *U) {
      const PairedInterval *Run = Q.P.paired(U->Range);
      return Run && llvm::is_contained(Run->Declared, V);
    });
  }

  /// Where a variable declared in region \p Own is used.
  struct Reach {
    bool Outside = false;     ///< of its region
    bool ControlFlow = false; ///< by the thread, for all slots
  };
  Reach reachOf(unsigned V, int Own) const {
    Reach Out;
    Out.Outside = Own < 0;
    for (const VarUse *U : Q.usesOf(V)) {
      if (D.inDead(U->Range, Q) ||
          (Q.inReplaced(U->Range) && !Q.Made.count(V)))
        continue;
      int In = -1;
      for (size_t R = 0; R < D.Regions.size() && In < 0; ++R)
        for (unsigned C : D.Regions[R].All)
          if (M.stmt(C).Range.contains(U->Range))
            In = static_cast<int>(R);
      if (In != Own)
        Out.Outside = true;
      if (In < 0 && !inGuard(U->Range))
        Out.ControlFlow = true;
    }
    return Out;
  }

  /// In the condition of an if that each stretch of slot code tests by itself.
  bool inGuard(TextRange R) const {
    return llvm::any_of(D.GuardIfs, [&](unsigned G) {
      return M.stmt(G).CondRange.contains(R);
    });
  }

  void repeatWhatItUses(unsigned V) {
    for (const VarUse &U : M.VarUses)
      if (M.Vars[V].InitRange.contains(U.Range))
        repeat(U.Var);
  }
  void repeat(unsigned V) {
    if (M.Vars[V].IsParam || D.VarHome[V] != Home::Local)
      return;
    D.VarHome[V] = Home::Repeated;
    repeatWhatItUses(V);
  }

  /// Inside a loop of slot code `continue` would mean that loop.
  bool returnsFromLoop(const Stmt &St) const {
    for (const Stmt &R : M.Stmts)
      if (R.K == Stmt::Return && St.Range.contains(R.Range))
        for (int A = R.Parent; A >= 0 && A != St.Parent; A = M.stmt(A).Parent)
          if (M.stmt(A).isLoop() || M.stmt(A).K == Stmt::Switch)
            return true;
    return false;
  }
};

} // namespace

void rcache::placeVars(const Queries &Q, Division &D) { Homes(Q, D).placeVars(); }
void rcache::placeReturns(const Queries &Q, Division &D) {
  Homes(Q, D).placeReturns();
}

void rcache::checkPairs(const Queries &Q, Division &D) {
  for (const PairedInterval &I : Q.P.Paired) {
    bool Own = D.ActiveFlags || !D.RepeatedGuards.empty();
    for (const VarUse &U : Q.M.VarUses)
      Own |= I.Statements.contains(U.Range) && D.VarHome[U.Var] == Home::Expanded;
    for (const Region &R : D.Regions)
      for (unsigned C : R.Slot)
        Own |= !R.Guards.empty() && I.Statements.contains(Q.M.stmt(C).Range);
    if (Own)
      D.Error = "what a pair of threads runs hangs on more than their numbers";
  }
}
