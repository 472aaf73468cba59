// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Shape.h.

#include "Shape.h"
#include "Speculation.h"
#include <algorithm>
#include <map>

using namespace rcache;

int Shape::regionOf(unsigned Id, const KernelModel &M) const {
  for (int P = static_cast<int>(Id); P >= 0; P = M.stmt(P).Parent)
    for (size_t R = 0; R < Regions.size(); ++R)
      if (std::find(Regions[R].All.begin(), Regions[R].All.end(), unsigned(P)) !=
          Regions[R].All.end())
        return static_cast<int>(R);
  return -1;
}

namespace {

class Builder {
public:
  Builder(const KernelModel &M, const Plan &P,
          const std::set<std::string> &Mentioned)
      : M(M), P(P), Mentioned(Mentioned) {}

  ShapeResult run() {
    for (const ArrayPlan &A : P.Arrays)
      if (!A.isShared())
        RegisterArrays.insert(A.Array);
    for (const ArrayPlan &A : P.Arrays)
      if (A.isShared())
        RegisterArrays.erase(A.Array);
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I)
      if (RegisterArrays.count(M.SharedAccesses[I].Array))
        Replaced.push_back(M.SharedAccesses[I].Range);
    for (unsigned I = 0; I < M.GlobalAccesses.size(); ++I)
      if (isVectorStore(I) && !isSingleStore(I))
        Replaced.push_back(M.GlobalAccesses[I].Range);
    for (auto &V : M.VarUses)
      UsesOf[V.Var].push_back(&V);
    findDead();
    for (const ArrayPlan &A : P.Arrays)
      if (const auto *Rows = A.as<StreamedRows>())
        S.StreamLoop = static_cast<int>(Rows->Loop);
    findStructure();
    if (S.StreamLoop >= 0 && !S.TapLoops.count(unsigned(S.StreamLoop)))
      Error = "the loop over the rows of a tile does more than add up";
    findUniformVars();
    findRegions(0, M.stmt(0).Children);
    if (!Error)
      placeVars();
    if (!Error)
      placeReturns();
    if (!Error)
      prepareSpeculation();
    ShapeResult R;
    R.S = std::move(S);
    R.Error = std::move(Error);
    return R;
  }

private:
  const KernelModel &M;
  const Plan &P;
  const std::set<std::string> &Mentioned;
  Shape S;
  std::optional<std::string> Error;
  std::set<unsigned> RegisterArrays;
  std::vector<TextRange> Replaced; ///< accesses written anew: registers, stores
  std::map<unsigned, std::vector<const VarUse *>> UsesOf;
  std::set<unsigned> SlotVars; ///< variables that differ from slot to slot
  std::map<unsigned, Speculation> Judged; ///< loops over taps

  bool inReplaced(TextRange R) const {
    for (TextRange A : Replaced)
      if (A.contains(R))
        return true;
    return false;
  }

  //===--- Dead statements ---===//

  /// In a statement that goes, or in the initialiser of a variable that goes.
  bool inDead(TextRange R) const {
    for (unsigned D : S.Dead)
      if (M.stmt(D).Range.contains(R))
        return true;
    for (const Stmt &St : M.Stmts)
      if (St.K == Stmt::Barrier && St.Range.contains(R) &&
          P.scopeOf(St.Id) != SyncScope::Block)
        return true;
    for (unsigned V : S.DeadVars)
      if (!M.Vars[V].InitRange.empty() && M.Vars[V].InitRange.contains(R) &&
          !hasGlobalWrite(R) && writesOnly(M.Vars[V].InitRange, nullptr))
        return true;
    return false;
  }

  bool isStagingWrite(const Stmt &St) const {
    if (St.K != Stmt::Leaf)
      return false;
    for (const SharedAccess &A : M.SharedAccesses)
      if (A.K == SharedAccess::Write && A.Stmt == St.Id &&
          RegisterArrays.count(A.Array))
        return true;
    return false;
  }

  bool hasGlobalWrite(TextRange R) const {
    for (const GlobalAccess &G : M.GlobalAccesses)
      if (G.K != GlobalAccess::Read && R.contains(G.Range))
        return true;
    return false;
  }
  bool hasGlobalRead(TextRange R) const {
    for (const GlobalAccess &G : M.GlobalAccesses)
      if (G.K != GlobalAccess::Write && R.contains(G.Range))
        return true;
    return false;
  }
  bool hasLiveShared(TextRange R) const {
    for (const SharedAccess &A : M.SharedAccesses)
      if (R.contains(A.Range))
        return true;
    return false;
  }

  /// Writes nothing but the variables in \p Only (null: none).
  bool writesOnly(TextRange R, const std::set<unsigned> *Only) const {
    for (const VarUse &U : M.VarUses)
      if (U.Write && R.contains(U.Range) && !(Only && Only->count(U.Var)))
        return false;
    return !hasGlobalWrite(R);
  }

  /// Text made by emission may name it: at a barrier, a read or a store in its
  /// scope.
  bool mentioned(const Var &V) const {
    if (!Mentioned.count(V.Name))
      return false;
    const TextRange Scope = M.stmt(V.Scope).Range;
    for (const Stmt &St : M.Stmts)
      if (St.K == Stmt::Barrier && Scope.contains(St.Range))
        return true;
    for (const SharedAccess &A : M.SharedAccesses)
      if (A.K == SharedAccess::Read && Scope.contains(A.Range))
        return true;
    for (unsigned I = 0; I < M.GlobalAccesses.size(); ++I)
      if (isVectorStore(I) && Scope.contains(M.GlobalAccesses[I].Range))
        return true;
    return false;
  }

  /// Is the variable's value needed (\p Elsewhere: outside of that statement)?
  bool varIsLive(unsigned V, const Stmt *Elsewhere = nullptr) const {
    const Var &Vr = M.Vars[V];
    if (Vr.AddressTaken || mentioned(Vr))
      return true;
    auto It = UsesOf.find(V);
    if (It == UsesOf.end())
      return false;
    for (const VarUse *U : It->second) {
      if (Elsewhere && Elsewhere->Range.contains(U->Range))
        continue;
      // What is assigned to a reference is assigned to something else.
      if (U->Write && !usedAsValue(*U) && !Vr.IsReference)
        continue;
      if (inDead(U->Range))
        continue;
      if (inReplaced(U->Range))
        continue;
      return true;
    }
    return false;
  }

  /// A written use that is more than an assignment statement of its own.
  bool usedAsValue(const VarUse &U) const {
    for (const Stmt &St : M.Stmts)
      if ((St.K == Stmt::Leaf) && St.Range.contains(U.Range)) {
        // `v = ...;`, `v += ...;`, `v++;`, `++v;` and array elements of v.
        std::string T = M.text(St.Range);
        size_t B = T.find_first_not_of(" \t\n(+-");
        return B == std::string::npos ||
               St.Range.Begin + B != U.Range.Begin;
      }
    return true;
  }

  bool declares(unsigned StmtId, std::vector<unsigned> &Out) const {
    for (unsigned V = 0; V < M.Vars.size(); ++V)
      if (!M.Vars[V].IsParam && M.Vars[V].DeclStmt == StmtId)
        Out.push_back(V);
    return !Out.empty();
  }

  /// Does the statement do nothing, if all in S.Dead goes?
  bool isDead(const Stmt &St) const {
    if (St.HasBarrier || St.HasReturn || St.IsCondition)
      return false;
    switch (St.K) {
    case Stmt::Leaf:
    case Stmt::Decl: {
      if (isStagingWrite(St))
        return true;
      if (St.HasCall || hasGlobalWrite(St.Range))
        return false;
      for (const SharedArray &A : M.Arrays) // declarations of arrays
        if (!A.AtFileScope && A.DeclRange == St.Range)
          return false;
      std::vector<unsigned> Vars;
      if (declares(St.Id, Vars)) {
        for (unsigned V : Vars)
          if (varIsLive(V))
            return false;
        std::set<unsigned> Own(Vars.begin(), Vars.end());
        return writesOnly(St.Range, &Own);
      }
      // An assignment to variables that nothing reads.
      bool Any = false;
      for (const VarUse &U : M.VarUses)
        if (St.Range.contains(U.Range) && U.Write) {
          if (M.Vars[U.Var].IsParam || varIsLive(U.Var) || usedAsValue(U))
            return false;
          Any = true;
        }
      return Any;
    }
    case Stmt::Block:
      return allDead(St) && !St.Children.empty();
    case Stmt::If:
    case Stmt::For:
    case Stmt::While:
    case Stmt::Do: {
      if (St.K == Stmt::While || St.K == Stmt::Do)
        return isDeadCount(St);
      if (St.Children.empty() || !allDead(St))
        return false;
      std::set<unsigned> Own;
      TextRange Head = St.K == Stmt::For ? St.HeaderRange : St.CondRange;
      if (St.IterVar >= 0)
        Own.insert(static_cast<unsigned>(St.IterVar));
      if (!Own.empty() && M.Vars[*Own.begin()].DeclStmt != St.Id &&
          varIsLive(*Own.begin()))
        return false;
      return writesOnly(Head, &Own) && !St.HasCall;
    }
    default:
      return false;
    }
  }

  /// A while loop that counts (else it might not end) and does nothing more.
  bool isDeadCount(const Stmt &St) const {
    if (St.IterSymbol < 0 || St.IterVar < 0 || St.Children.size() != 1 ||
        St.HasCall)
      return false;
    const std::vector<unsigned> &Body = M.stmt(St.Children[0]).Children;
    for (unsigned C : Body)
      if (!S.Dead.count(C) && C != Body.back() && !isEmpty(M.stmt(C)))
        return false;
    const std::set<unsigned> Own = {static_cast<unsigned>(St.IterVar)};
    return !Body.empty() && writesOnly(St.CondRange, &Own) &&
           writesOnly(M.stmt(Body.back()).Range, &Own) &&
           !varIsLive(static_cast<unsigned>(St.IterVar), &St);
  }

  bool allDead(const Stmt &St) const {
    for (unsigned C : St.Children)
      if (!S.Dead.count(C) && !isEmpty(M.stmt(C)))
        return false;
    return true;
  }

  bool isEmpty(const Stmt &St) const {
    return St.K == Stmt::Leaf && M.text(St.Range) == ";";
  }

  /// All statements and variables are taken for dead until something that stays
  /// needs them: `x = x < 0 ? 0 : x;` alone keeps no `x`.
  void findDead() {
    for (unsigned I = 1; I < M.Stmts.size(); ++I)
      S.Dead.insert(I);
    for (unsigned V = 0; V < M.Vars.size(); ++V)
      if (!M.Vars[V].IsParam)
        S.DeadVars.insert(V);
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (unsigned I = 1; I < M.Stmts.size(); ++I)
        if (S.Dead.count(I) && !isDead(M.Stmts[I]))
          Changed |= S.Dead.erase(I) > 0;
      for (auto It = S.DeadVars.begin(); It != S.DeadVars.end();)
        if (varIsLive(*It)) {
          It = S.DeadVars.erase(It);
          Changed = true;
        } else
          ++It;
    }
  }

  //===--- Uniform variables and regions ---===//

  //===--- Control flow of the thread ---===//

  void findStructure() {
    for (const Stmt &St : M.Stmts)
      if (St.HasBarrier || St.Id == 0)
        S.Structural.insert(St.Id);
    if (P.slots() < 2)
      return;
    // `if (g < n) { ...; out[g] = v; }`: the condition is tested when all slots
    // have computed, with the store.
    for (const Plan::VectorStore &V : P.VectorStores) {
      const Stmt &St = M.stmt(M.GlobalAccesses[V.Access].Stmt);
      if (St.Parent < 0 || S.Structural.count(static_cast<unsigned>(St.Parent)))
        continue;
      const Stmt *Body = &M.stmt(static_cast<unsigned>(St.Parent));
      if (Body->K == Stmt::If && Body->Children.size() == 1)
        makeGuard(*Body);
      else
        reachable(St);
    }
    if (!P.TapsOutside)
      return;
    // Outer loops first: an inner one counts only inside control flow.
    for (const Stmt &St : M.Stmts) {
      if (S.Dead.count(St.Id) || St.Parent < 0)
        continue;
      // In a streamed loop each slot has its own round.
      if (S.StreamLoop >= 0 && static_cast<int>(St.Id) != S.StreamLoop &&
          M.stmt(unsigned(S.StreamLoop)).Range.contains(St.Range) &&
          mentions(St.HeaderRange, iteratorOf(unsigned(S.StreamLoop))))
        continue;
      if (isTapLoop(St) && reachable(St)) {
        S.TapLoops.insert(St.Id);
        S.Structural.insert(St.Id);
        if (M.stmt(St.Children[0]).K == Stmt::Block)
          S.Structural.insert(St.Children[0]);
      }
    }
  }

  int iteratorOf(unsigned Loop) const { return M.stmt(Loop).IterVar; }

  bool mentions(TextRange R, int Var) const {
    for (const VarUse &U : M.VarUses)
      if (static_cast<int>(U.Var) == Var && R.contains(U.Range))
        return true;
    return false;
  }

  /// A statement of control flow's block, or of an if that can be a condition
  /// on each slot.
  bool reachable(const Stmt &St) {
    unsigned Parent = static_cast<unsigned>(St.Parent);
    if (S.Structural.count(Parent))
      return true;
    const Stmt &B = M.stmt(Parent);
    if (B.K == Stmt::If) // no braces
      return makeGuard(B);
    if (B.K != Stmt::Block || B.Parent < 0)
      return false;
    if (!makeGuard(M.stmt(static_cast<unsigned>(B.Parent))))
      return false;
    S.Structural.insert(B.Id);
    return true;
  }

  /// Makes the condition of \p If one that each stretch of slot code inside
  /// tests by itself.
  bool makeGuard(const Stmt &If) {
    if (If.K != Stmt::If || If.Children.size() != 1 || If.HasReturn ||
        If.HasBarrier || If.Parent < 0 ||
        !S.Structural.count(static_cast<unsigned>(If.Parent)) ||
        !pureRepeatable(If.CondRange))
      return false;
    S.GuardIfs.insert(If.Id);
    S.Structural.insert(If.Id);
    return true;
  }

  bool isTapLoop(const Stmt &St) const {
    if (St.K != Stmt::For || St.HasBarrier || St.HasReturn || St.HasCall ||
        St.IterVar < 0 ||
        M.Vars[static_cast<size_t>(St.IterVar)].DeclStmt != St.Id ||
        hasGlobalWrite(St.Range))
      return false;
    bool ReadsKept = false;
    for (const SharedAccess &A : M.SharedAccesses)
      ReadsKept |= St.Range.contains(A.Range) && isKeptRead(A);
    const bool Unrolled =
        std::find(P.UnrolledLoops.begin(), P.UnrolledLoops.end(), St.Id) !=
        P.UnrolledLoops.end();
    if (Unrolled ? !St.ConstTripCount || *St.ConstTripCount < 2 ||
                       !M.countsItself(St)
                 : !ReadsKept || !sameForAll(St.HeaderRange))
      return false;
    for (const Stmt &Q : M.Stmts)
      if (St.Range.contains(Q.Range) &&
          (Q.K == Stmt::Break || Q.K == Stmt::Continue || Q.K == Stmt::While ||
           Q.K == Stmt::Do || Q.K == Stmt::Switch))
        return false;
    for (const SharedAccess &A : M.SharedAccesses)
      if (St.Range.contains(A.Range) && !isWindowRead(A) && !isKeptRead(A))
        return false;
    for (const Var &V : M.Vars)
      if (V.DynamicIndex)
        return false;
    // What is declared outside and changed inside has one element a slot.
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

  /// The header of a loop has the same value in all threads of a block.
  bool sameForAll(TextRange R) const {
    for (const BuiltinUse &B : M.Builtins)
      if (B.K == Symbol::ThreadIdx && R.contains(B.Range))
        return false;
    for (const VarUse &U : M.VarUses)
      if (R.contains(U.Range) &&
          (M.Vars[U.Var].Depends & (DepThread | DepShared)))
        return false;
    return !hasLiveShared(R) && !hasGlobalRead(R) && !hasGlobalWrite(R);
  }

  bool isWindowRead(const SharedAccess &A) const {
    for (const ArrayPlan &Pl : P.Arrays)
      for (const WindowRead &W : Pl.registerReads())
        if (&M.SharedAccesses[W.Access] == &A)
          return true;
    return false;
  }

  /// A read of an array that stays in shared memory.
  bool isKeptRead(const SharedAccess &A) const {
    return A.K == SharedAccess::Read && !RegisterArrays.count(A.Array);
  }

  bool readsKept(TextRange R) const {
    for (const SharedAccess &A : M.SharedAccesses)
      if (R.contains(A.Range) && isKeptRead(A))
        return true;
    return false;
  }

  bool structural(unsigned Id) const { return S.Structural.count(Id) != 0; }

  /// Reads through pointers: not for slots that have returned.
  bool readsPointers(TextRange R) const {
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

  /// Computes with slot variables and registers only: no harm in running it for
  /// a slot that has returned.
  bool isPure(const Region &R) const {
    for (const Var &V : M.Vars)
      if (V.DynamicIndex)
        return false;
    for (unsigned C : R.Slot) {
      const Stmt &St = M.stmt(C);
      if (repeatableGuard(St))
        continue; // stands at the top of the slot loop, or is left out
      if (St.HasCall || St.HasReturn)
        return false;
      for (TextRange D : M.Divisors)
        if (D.contains(St.Range) || (St.Range.contains(D) && !readsUniform(D)))
          return false;
      for (const Stmt &Q : M.Stmts)
        if (St.Range.contains(Q.Range) &&
            (Q.K == Stmt::While || Q.K == Stmt::Do || Q.K == Stmt::Switch))
          return false;
      for (unsigned I = 0; I < M.GlobalAccesses.size(); ++I)
        if (St.Range.contains(M.GlobalAccesses[I].Range) &&
            !(isVectorStore(I) && M.GlobalAccesses[I].Stmt == C) &&
            !isFileArrayRead(M.GlobalAccesses[I]))
          return false;
      for (const SharedAccess &A : M.SharedAccesses)
        if (St.Range.contains(A.Range) && !isWindowRead(A))
          return false;
    }
    return true;
  }

  bool isVectorStore(unsigned Access) const {
    for (const Plan::VectorStore &V : P.VectorStores)
      if (V.holds(Access))
        return true;
    return false;
  }

  /// Collected, but stored by each slot in the words of the original.
  bool isSingleStore(unsigned Access) const {
    for (const Plan::VectorStore &V : P.VectorStores)
      if (V.holds(Access))
        return V.Bytes == M.GlobalAccesses[V.Access].ElemBytes;
    return false;
  }

  bool isFileArrayRead(const GlobalAccess &G) const {
    return G.K == GlobalAccess::Read && !readsPointers(G.Range);
  }

  const Stmt *tapLoopAround(unsigned Id) const {
    for (int Q = M.stmt(Id).Parent; Q >= 0; Q = M.stmt(Q).Parent)
      if (S.TapLoops.count(static_cast<unsigned>(Q)))
        return &M.stmt(static_cast<unsigned>(Q));
    return nullptr;
  }

  /// Everything used in \p R is the same for all slots.
  bool readsUniform(TextRange R) const {
    for (const BuiltinUse &B : M.Builtins)
      if (B.K == Symbol::ThreadIdx && R.contains(B.Range) && !inReplaced(B.Range))
        return false;
    for (const VarUse &U : M.VarUses)
      if (R.contains(U.Range) && SlotVars.count(U.Var))
        return false;
    for (unsigned V : SlotVars)
      if (!M.Vars[V].IsParam && R.contains(M.Vars[V].NameRange))
        return false;
    return !hasLiveShared(R);
  }

  /// May \p Id run once for all slots?
  bool uniformStmt(unsigned Id) const {
    const Stmt &St = M.stmt(Id);
    if (St.HasCall || St.HasGlobalWrite || hasGlobalWrite(St.Range))
      return false;
    // Each slot has its own products where sharing them would change a fusion.
    if (P.slots() > 1)
      for (TextRange F : M.Apart)
        if (St.Range.contains(F))
          return false;
    return readsUniform(St.Range);
  }

  void childRuns(unsigned Block, std::vector<std::vector<unsigned>> &Out) const {
    std::vector<unsigned> Cur;
    if (M.stmt(Block).K != Stmt::Block) { // the body of a loop, no braces
      Out.push_back({Block});
      return;
    }
    for (unsigned C : M.stmt(Block).Children) {
      if (structural(C)) {
        if (!Cur.empty())
          Out.push_back(std::move(Cur));
        Cur.clear();
      } else
        Cur.push_back(C);
    }
    if (!Cur.empty())
      Out.push_back(std::move(Cur));
  }

  std::vector<unsigned> structuralBlocks() const {
    std::vector<unsigned> B;
    for (const Stmt &St : M.Stmts)
      if (St.K == Stmt::Block && structural(St.Id))
        B.push_back(St.Id);
    for (const std::set<unsigned> *Heads : {&S.TapLoops, &S.GuardIfs})
      for (unsigned L : *Heads)
        if (!structural(M.stmt(L).Children[0]))
          B.push_back(M.stmt(L).Children[0]);
    return B;
  }

  /// A variable differs from slot to slot if its values do, or if it is
  /// modified in code that runs once a slot.
  void findUniformVars() {
    if (S.StreamLoop >= 0) {
      // What a round changes or declares is each slot's own.
      const Stmt &L = M.stmt(unsigned(S.StreamLoop));
      SlotVars.insert(static_cast<unsigned>(L.IterVar));
      for (const VarUse &U : M.VarUses)
        if (U.Write && L.Range.contains(U.Range) && !isTapIterator(U.Var))
          SlotVars.insert(U.Var);
    }
    for (unsigned V = 0; V < M.Vars.size(); ++V)
      if ((M.Vars[V].Depends & (DepThread | DepShared)) && !isTapIterator(V))
        SlotVars.insert(V);
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (unsigned B : structuralBlocks()) {
        std::vector<std::vector<unsigned>> Runs;
        childRuns(B, Runs);
        for (auto &Run : Runs) {
          bool Returned = false;
          for (unsigned C : Run) {
            if (S.Dead.count(C))
              continue;
            bool Uniform = isUniform(C, Returned);
            if (!Uniform) {
              Returned |= M.stmt(C).HasReturn;
              for (const VarUse &U : M.VarUses)
                if (U.Write && M.stmt(C).Range.contains(U.Range))
                  Changed |= demote(U.Var);
              for (unsigned V = 0; V < M.Vars.size(); ++V)
                if (!M.Vars[V].IsParam &&
                    M.stmt(C).Range.contains(M.Vars[V].NameRange) &&
                    !sharedDeclarator(V, C))
                  Changed |= demote(V);
            }
          }
        }
      }
    }
  }

  /// One of several declarators of \p Decl, with a value that is the same for all
  /// slots, at any time: what it is made of does not change.
  bool sharedDeclarator(unsigned V, unsigned Decl) const {
    const Var &Vr = M.Vars[V];
    const Stmt &St = M.stmt(Decl);
    const TextRange R = Vr.InitRange;
    if (Vr.OnlyDeclarator || Vr.Assigned || Vr.AddressTaken || Vr.IsReference ||
        !Vr.ArrayExtents.empty() || Vr.DeclStmt != Decl ||
        !(Vr.DeclRange == St.Range) || R.empty() || St.HasCall ||
        SlotVars.count(V) || !readsUniform(R) || hasGlobalRead(R) ||
        !writesOnly(R, nullptr))
      return false;
    for (const VarUse &U : M.VarUses)
      if (R.contains(U.Range) && M.Vars[U.Var].Assigned)
        return false;
    for (TextRange F : M.Apart)
      if (R.contains(F))
        return false;
    return true;
  }

  /// Once a thread. Not a load that returned slots would not have done.
  bool isUniform(unsigned C, bool Returned) const {
    if (!uniformStmt(C))
      return false;
    TextRange R = M.stmt(C).Range;
    if (Returned && hasGlobalRead(R))
      return false;
    return !(readsPointers(R) && (tapLoopAround(C) || underGuard(C)));
  }

  bool underGuard(unsigned Id) const {
    for (int Q = M.stmt(Id).Parent; Q >= 0; Q = M.stmt(Q).Parent)
      if (S.GuardIfs.count(static_cast<unsigned>(Q)))
        return true;
    return false;
  }

  /// Counts a loop that all slots run together: under a guard of the original
  /// it may have "depended" on the thread by control only.
  bool isTapIterator(unsigned V) const {
    for (unsigned L : S.TapLoops)
      if (static_cast<int>(L) != S.StreamLoop &&
          M.stmt(L).IterVar == static_cast<int>(V))
        return true;
    return false;
  }

  bool demote(unsigned V) {
    if (isTapIterator(V))
      return false;
    return SlotVars.insert(V).second;
  }

  void findRegions(unsigned Block, const std::vector<unsigned> &Children) {
    Region R;
    auto Flush = [&] {
      if (!R.All.empty()) {
        R.Block = Block;
        unsigned First = R.All.front();
        if (const Stmt *L = tapLoopAround(First))
          R.Speculative = speculative(*L);
        else
          R.Speculative = isPure(R);
        for (unsigned C : R.Slot)
          for (const Plan::VectorStore &V : P.VectorStores)
            R.StoresLate |=
                R.Speculative && M.GlobalAccesses[V.Access].Stmt == C;
        for (int Q = static_cast<int>(Block); Q >= 0; Q = M.stmt(Q).Parent)
          if (S.GuardIfs.count(static_cast<unsigned>(Q)))
            R.Guards.push_back(static_cast<unsigned>(Q));
        S.Regions.push_back(std::move(R));
      }
      R = Region();
    };
    bool GlobalWrite = false, Returned = false;
    for (unsigned C : Children) {
      const Stmt &St = M.stmt(C);
      if (structural(C)) {
        Flush();
        GlobalWrite = Returned = false;
        if (St.K == Stmt::Block) {
          findRegions(C, St.Children);
          continue;
        }
        for (unsigned Ch : St.Children)
          if (M.stmt(Ch).K == Stmt::Block)
            findRegions(Ch, M.stmt(Ch).Children);
          else
            findRegions(Ch, {Ch}); // no braces
        continue;
      }
      if (S.Dead.count(C)) {
        R.All.push_back(C);
        continue;
      }
      bool Uniform = isUniform(C, Returned) && !isArrayDecl(St);
      if (Uniform && St.HasReturn && !R.Slot.empty()) {
        // All threads return together: not before the slots before it ran.
        Flush();
        GlobalWrite = Returned = false;
      }
      if (Uniform && GlobalWrite && hasGlobalRead(St.Range)) {
        Flush();
        GlobalWrite = Returned = false;
      }
      if (Uniform && writesReadBefore(St, R)) {
        Flush();
        GlobalWrite = Returned = false;
      }
      R.All.push_back(C);
      if (Uniform)
        R.Uniform.push_back(C);
      else if (!isArrayDecl(St)) {
        R.Slot.push_back(C);
        GlobalWrite |= hasGlobalWrite(St.Range);
        Returned |= St.HasReturn;
      }
    }
    Flush();
  }

  /// Slots that have returned run the loop as well.
  bool speculative(const Stmt &Loop) {
    if (readsPointers(Loop.Range))
      return false;
    auto Known = Judged.find(Loop.Id);
    if (Known == Judged.end())
      Known = Judged
                  .emplace(Loop.Id, speculationOf(Loop, M, P, SlotVars,
                                                  RegisterArrays))
                  .first;
    if (Known->second == Speculation::IfAnySlot)
      for (unsigned G : S.GuardIfs) // tested in there, it may say no to all
        if (Loop.Range.contains(M.stmt(G).Range))
          return false;
    return Known->second != Speculation::No;
  }

  /// Have slots left, or do they wait, where \p R runs?
  bool someSlotsOut(const Region &R) const {
    if (!R.Guards.empty() || S.ActiveFlags)
      return true;
    for (unsigned G : S.RepeatedGuards)
      if (M.stmt(G).Range.Begin < M.stmt(R.All.back()).Range.End)
        return true;
    return false;
  }

  /// What speculation asks for: that some slot is there, and that what the
  /// others compute with has been set.
  void prepareSpeculation() {
    for (const Region &R : S.Regions) {
      const Stmt *L = tapLoopAround(R.All.front());
      if (!L || !R.Speculative || !someSlotsOut(R))
        continue;
      auto Known = Judged.find(L->Id);
      if (Known != Judged.end() && Known->second == Speculation::IfAnySlot)
        S.IfAnySlot.insert(L->Id);
      for (const VarUse &U : M.VarUses)
        if (S.VarHome[U.Var] == Home::Expanded && L->Range.contains(U.Range) &&
            !setForAll(U.Var))
          S.Zeroed.insert(U.Var);
    }
  }

  /// Its declaration gives it a value in all slots.
  bool setForAll(unsigned V) const {
    if (M.Vars[V].InitRange.empty())
      return false;
    for (const Region &R : S.Regions)
      if (std::find(R.All.begin(), R.All.end(), M.Vars[V].DeclStmt) !=
          R.All.end())
        return R.Speculative || !someSlotsOut(R);
    return false;
  }

  bool isArrayDecl(const Stmt &St) const {
    for (const SharedArray &A : M.Arrays)
      if (!A.AtFileScope && A.DeclRange == St.Range)
        return true;
    return false;
  }

  /// Does \p St change a variable that slot statements before it in the region
  /// read?
  bool writesReadBefore(const Stmt &St, const Region &R) const {
    for (const VarUse &U : M.VarUses)
      if (U.Write && St.Range.contains(U.Range))
        for (const VarUse *O : UsesOf.at(U.Var))
          for (unsigned B : R.Slot)
            if (M.stmt(B).Range.contains(O->Range))
              return true;
    return false;
  }

  /// In the condition of an if that each stretch of slot code tests by itself.
  bool inGuard(TextRange R) const {
    for (unsigned G : S.GuardIfs)
      if (M.stmt(G).CondRange.contains(R))
        return true;
    return false;
  }

  //===--- Homes of variables ---===//

  void placeVars() {
    S.VarHome.assign(M.Vars.size(), Home::Local);
    for (unsigned V = 0; V < M.Vars.size(); ++V) {
      const Var &Vr = M.Vars[V];
      if (Vr.IsParam) {
        // A parameter that slots modify would need a copy a slot.
        S.VarHome[V] = Home::Uniform;
        if (SlotVars.count(V) && Vr.Assigned)
          Error = "the parameter '" + Vr.Name + "' is modified by threads";
        continue;
      }
      if (!SlotVars.count(V)) {
        S.VarHome[V] = Home::Uniform;
        for (const Region &R : S.Regions)
          if (std::find(R.Slot.begin(), R.Slot.end(), Vr.DeclStmt) !=
                  R.Slot.end() &&
              Vr.DeclRange == M.stmt(Vr.DeclStmt).Range && !S.DeadVars.count(V))
            S.Hoisted.insert(V);
        continue;
      }
      if (S.StreamLoop >= 0 && iteratorOf(unsigned(S.StreamLoop)) == int(V))
        continue; // declared with each row of slots
      int Own = S.regionOf(Vr.DeclStmt, M);
      bool Outside = Own < 0, Structural = false;
      auto It = UsesOf.find(V);
      if (It != UsesOf.end())
        for (const VarUse *U : It->second) {
          if (inDead(U->Range) ||
              (inReplaced(U->Range) && !Mentioned.count(Vr.Name)))
            continue;
          int In = -1;
          for (size_t R = 0; R < S.Regions.size() && In < 0; ++R)
            for (unsigned C : S.Regions[R].All)
              if (M.stmt(C).Range.contains(U->Range))
                In = static_cast<int>(R);
          if (In != Own)
            Outside = true;
          if (In < 0 && !inGuard(U->Range))
            Structural = true;
        }
      if (!Outside)
        continue;
      // In the header of a loop with barriers slot 0 speaks for all.
      if (Vr.Repeatable && !Structural)
        S.VarHome[V] = Home::Repeated;
      else
        S.VarHome[V] = Home::Expanded;
      if (S.VarHome[V] == Home::Expanded) {
        if (Vr.IsReference || Vr.AddressTaken)
          Error = "'" + Vr.Name +
                  "' is used by address on both sides of a barrier";
        if (Own < 0)
          Error = "'" + Vr.Name + "' is declared in the header of a loop with "
                                  "barriers and differs between threads";
      }
    }
    // What a repeated declaration uses must be there as well.
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (unsigned V = 0; V < M.Vars.size(); ++V) {
        if (S.VarHome[V] != Home::Repeated)
          continue;
        for (const VarUse &U : M.VarUses)
          if (M.Vars[V].InitRange.contains(U.Range) &&
              S.VarHome[U.Var] == Home::Local && !M.Vars[U.Var].IsParam) {
            S.VarHome[U.Var] = Home::Repeated;
            Changed = true;
          }
      }
    }
  }

  //===--- Returns ---===//

  bool pureRepeatable(TextRange R) const {
    for (const VarUse &U : M.VarUses)
      if (R.contains(U.Range)) {
        const Var &V = M.Vars[U.Var];
        if (U.Write || V.Assigned || (!V.IsParam && !V.Repeatable))
          return false;
      }
    return !hasGlobalRead(R) && !hasGlobalWrite(R) && !hasLiveShared(R);
  }

  /// `if (cond) return;` with a condition that can be evaluated again.
  bool repeatableGuard(const Stmt &St) const {
    if (St.K != Stmt::If || St.Children.size() != 1 || St.HasCall)
      return false;
    const Stmt *Then = &M.stmt(St.Children[0]);
    while (Then->K == Stmt::Block && Then->Children.size() == 1)
      Then = &M.stmt(Then->Children[0]);
    return Then->K == Stmt::Return && pureRepeatable(St.CondRange);
  }

  void placeReturns() {
    std::vector<unsigned> Guards;
    bool Flags = false;
    for (size_t R = 0; R < S.Regions.size(); ++R)
      for (unsigned C : S.Regions[R].Slot) {
        const Stmt &St = M.stmt(C);
        if (!St.HasReturn)
          continue;
        // Inside a loop of slot code `continue` would mean that loop.
        for (const Stmt &Q : M.Stmts)
          if (Q.K == Stmt::Return && St.Range.contains(Q.Range))
            for (int A = Q.Parent; A >= 0 && A != St.Parent; A = M.stmt(A).Parent)
              if (M.stmt(A).K == Stmt::For || M.stmt(A).K == Stmt::While ||
                  M.stmt(A).K == Stmt::Do || M.stmt(A).K == Stmt::Switch)
                Error = "a return inside a loop";
        if (repeatableGuard(St))
          Guards.push_back(C);
        else if (R + 1 != S.Regions.size())
          Flags = true;
      }
    if (Flags)
      S.ActiveFlags = true;
    else
      S.RepeatedGuards = Guards;
    std::vector<unsigned> All = S.RepeatedGuards;
    All.insert(All.end(), S.GuardIfs.begin(), S.GuardIfs.end());
    for (unsigned G : All)
      for (const VarUse &U : M.VarUses)
        if (M.stmt(G).CondRange.contains(U.Range) &&
            S.VarHome[U.Var] == Home::Local)
          repeat(U.Var);
    for (unsigned I = 0; I < M.GlobalAccesses.size(); ++I)
      if (isSingleStore(I))
        for (const VarUse &U : M.VarUses)
          if (M.GlobalAccesses[I].Range.contains(U.Range) &&
              S.VarHome[U.Var] == Home::Local)
            repeat(U.Var);
  }

  void repeat(unsigned V) {
    if (M.Vars[V].IsParam || S.VarHome[V] != Home::Local)
      return;
    S.VarHome[V] = Home::Repeated;
    for (const VarUse &U : M.VarUses)
      if (M.Vars[V].InitRange.contains(U.Range))
        repeat(U.Var);
  }
};

} // namespace

ShapeResult rcache::shapeOf(const KernelModel &M, const Plan &P,
                            const std::set<std::string> &Mentioned) {
  return Builder(M, P, Mentioned).run();
}
