// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which statements and variables go: staging writes of arrays that left shared
// memory, and all that only served them. All are taken for dead until something
// that stays needs them, so that `x = x < 0 ? 0 : x;` alone keeps no `x`.

#include "Division.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

namespace {

class Liveness {
public:
  Liveness(const Queries &Q, Division &D) : Q(Q), M(Q.M), D(D) {}

  void run() {
    for (unsigned I = 1; I < M.Stmts.size(); ++I)
      D.Dead.insert(I);
    for (unsigned V = 0; V < M.Vars.size(); ++V)
      if (!M.Vars[V].IsParam)
        D.DeadVars.insert(V);
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (unsigned I = 1; I < M.Stmts.size(); ++I)
        if (D.Dead.count(I) && !isDead(M.Stmts[I]))
          Changed |= D.Dead.erase(I) > 0;
      for (auto It = D.DeadVars.begin(); It != D.DeadVars.end();)
        if (isLive(*It)) {
          It = D.DeadVars.erase(It);
          Changed = true;
        } else
          ++It;
    }
  }

private:
  const Queries &Q;
  const KernelModel &M;
  Division &D;

  /// Is the variable's value needed (\p Elsewhere: outside of that statement)?
  bool isLive(unsigned V, const Stmt *Elsewhere = nullptr) const {
    const Var &Vr = M.Vars[V];
    if (Vr.AddressTaken || Q.isMade(V))
      return true;
    return llvm::any_of(Q.usesOf(V), [&](const VarUse *U) {
      if (Elsewhere && Elsewhere->Range.contains(U->Range))
        return false;
      // What is assigned to a reference is assigned to something else.
      if (U->Write && !usedAsValue(*U) && !Vr.IsReference)
        return false;
      return !D.inDead(U->Range, Q) && !Q.inReplaced(U->Range);
    });
  }

  /// A written use that is more than an assignment statement of its own.
  bool usedAsValue(const VarUse &U) const {
    for (const Stmt &St : M.Stmts)
      if (St.K == Stmt::Leaf && St.Range.contains(U.Range)) {
        // `v = ...;`, `v += ...;`, `v++;`, `++v;` and array elements of v.
        const std::string T = M.text(St.Range);
        const size_t B = T.find_first_not_of(" \t\n(+-");
        return B == std::string::npos || St.Range.Begin + B != U.Range.Begin;
      }
    return true;
  }

  /// Does the statement do nothing, if all in D.Dead goes?
  bool isDead(const Stmt &St) const {
    if (St.HasBarrier || St.HasReturn || St.IsCondition)
      return false;
    switch (St.K) {
    case Stmt::Leaf:
    case Stmt::Decl:
      return isDeadLeaf(St);
    case Stmt::Block:
      return allDead(St) && !St.Children.empty();
    case Stmt::While:
    case Stmt::Do:
      return isDeadCount(St);
    case Stmt::If:
    case Stmt::For: {
      if (St.Children.empty() || !allDead(St))
        return false;
      std::set<unsigned> Own;
      if (St.IterVar >= 0)
        Own.insert(static_cast<unsigned>(St.IterVar));
      if (!Own.empty() && M.Vars[*Own.begin()].DeclStmt != St.Id &&
          isLive(*Own.begin()))
        return false;
      return Q.writesOnly(St.K == Stmt::For ? St.HeaderRange : St.CondRange,
                          &Own) &&
             !St.HasCall;
    }
    default:
      return false;
    }
  }

  bool isDeadLeaf(const Stmt &St) const {
    if (Q.isStagingWrite(St))
      return true;
    if (St.HasCall || Q.writesGlobal(St.Range) || Q.declaresArray(St))
      return false;
    std::set<unsigned> Own;
    for (unsigned V = 0; V < M.Vars.size(); ++V)
      if (!M.Vars[V].IsParam && M.Vars[V].DeclStmt == St.Id)
        Own.insert(V);
    if (!Own.empty())
      return llvm::none_of(Own, [&](unsigned V) { return isLive(V); }) &&
             Q.writesOnly(St.Range, &Own);
    // An assignment to variables that nothing reads.
    bool Any = false;
    for (const VarUse &U : M.VarUses)
      if (St.Range.contains(U.Range) && U.Write) {
        const Var &V = M.Vars[U.Var];
        // A reference's own life does not tell whether what it is bound to is asked for.
        if (V.IsParam || V.IsReference || isLive(U.Var) || usedAsValue(U))
          return false;
        Any = true;
      }
    return Any;
  }

  /// A while loop that counts (else it might not end) and does nothing more.
  bool isDeadCount(const Stmt &St) const {
    if (St.IterSymbol < 0 || St.IterVar < 0 || St.Children.size() != 1 ||
        St.HasCall)
      return false;
    const std::vector<unsigned> &Body = M.stmt(St.Children[0]).Children;
    for (unsigned C : Body)
      if (!D.Dead.count(C) && C != Body.back() && !isEmpty(M.stmt(C)))
        return false;
    const std::set<unsigned> Own = {static_cast<unsigned>(St.IterVar)};
    return !Body.empty() && Q.writesOnly(St.CondRange, &Own) &&
           Q.writesOnly(M.stmt(Body.back()).Range, &Own) &&
           !isLive(static_cast<unsigned>(St.IterVar), &St);
  }

  bool allDead(const Stmt &St) const {
    return llvm::all_of(St.Children, [&](unsigned C) {
      return D.Dead.count(C) || isEmpty(M.stmt(C));
    });
  }

  bool isEmpty(const Stmt &St) const {
    return St.K == Stmt::Leaf && M.text(St.Range) == ";";
  }
};

} // namespace

void rcache::findDead(const Queries &Q, Division &D) { Liveness(Q, D).run(); }
