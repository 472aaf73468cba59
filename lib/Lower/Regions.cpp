// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stretches of statements between control flow: what of each runs once a
// thread, what once a slot, and which may run for slots that have returned.

#include "Division.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

namespace {

class RegionFinder {
public:
  RegionFinder(const Queries &Q, Division &D) : Q(Q), M(Q.M), P(Q.P), D(D) {}

  void find(unsigned Block, const std::vector<unsigned> &Children) {
    for (unsigned C : Children) {
      const Stmt &St = M.stmt(C);
      if (!D.structural(C)) {
        add(Block, C);
        continue;
      }
      flush(Block);
      if (St.K == Stmt::Block) {
        find(C, St.Children);
        continue;
      }
      for (unsigned Ch : St.Children)
        if (M.stmt(Ch).K == Stmt::Block)
          find(Ch, M.stmt(Ch).Children);
        else
          find(Ch, {Ch}); // no braces
    }
    flush(Block);
  }

private:
  const Queries &Q;
  const KernelModel &M;
  const Plan &P;
  Division &D;
  Region R;
  bool Stored = false, Returned = false; ///< slots of R have

  void add(unsigned Block, unsigned C) {
    const Stmt &St = M.stmt(C);
    // What threads of other numbers run stands by itself.
    if (!R.All.empty() && P.paired(St.Range) != P.paired(M.stmt(R.All.back()).Range))
      flush(Block);
    if (D.Dead.count(C)) {
      R.All.push_back(C);
      return;
    }
    const bool Array = Q.declaresArray(St);
    const bool Uniform = D.isUniform(C, Returned, Q) && !Array;
    // All threads return together: not before the slots before it ran. Nor is a
    // load done in front of stores that stood before it.
    if (Uniform &&
        ((St.HasReturn && !R.Slot.empty()) ||
         (Stored && Q.readsGlobal(St.Range)) || changesWhatSlotsRead(St)))
      flush(Block);
    R.All.push_back(C);
    if (Uniform) {
      R.Uniform.push_back(C);
    } else if (!Array) {
      R.Slot.push_back(C);
      Stored |= Q.writesGlobal(St.Range);
      Returned |= St.HasReturn;
    }
  }

  void flush(unsigned Block) {
    Stored = Returned = false;
    if (R.All.empty())
      return;
    R.Block = Block;
    for (int A = static_cast<int>(Block); A >= 0; A = M.stmt(A).Parent)
      if (D.GuardIfs.count(static_cast<unsigned>(A)))
        R.Guards.push_back(static_cast<unsigned>(A));
    if (const Stmt *L = D.tapLoopAround(R.All.front(), M))
      R.Speculative = speculative(*L);
    else
      R.Speculative = isPure();
    R.Speculative &= !changesBehindGuards();
    for (unsigned C : R.Slot)
      for (const Plan::VectorStore &V : P.VectorStores)
        R.StoresLate |= R.Speculative && M.GlobalAccesses[V.Access].Stmt == C;
    D.Regions.push_back(std::move(R));
    R = Region();
  }

  /// Does \p St change a variable that slot statements before it in the region
  /// read?
  bool changesWhatSlotsRead(const Stmt &St) const {
    for (const VarUse &U : M.VarUses)
      if (U.Write && St.Range.contains(U.Range))
        for (const VarUse *O : Q.usesOf(U.Var))
          for (unsigned B : R.Slot)
            if (M.stmt(B).Range.contains(O->Range))
              return true;
    return false;
  }

  /// The innermost statement that \p U stands in.
  unsigned stmtOf(const VarUse &U) const {
    unsigned Id = 0;
    for (const Stmt &S : M.Stmts)
      if (S.Range.contains(U.Range) && M.stmt(Id).Range.contains(S.Range))
        Id = S.Id;
    return Id;
  }

  /// Does \p U stand where a condition of the same words, and so the same one, holds?
  bool standsUnder(const VarUse &U, const Stmt &Guard) const {
    const auto Named = [&](TextRange R) {
      std::vector<unsigned> Vars;
      for (const VarUse &V : M.VarUses)
        if (R.contains(V.Range))
          Vars.push_back(V.Var);
      return Vars;
    };
    return llvm::any_of(M.Stmts, [&](const Stmt &S) {
      return S.K == Stmt::If && !S.Children.empty() &&
             M.stmt(S.Children[0]).Range.contains(U.Range) &&
             M.text(S.CondRange) == M.text(Guard.CondRange) &&
             Named(S.CondRange) == Named(Guard.CondRange) && Q.repeatable(S.CondRange);
    });
  }

  /// Does R change a variable that is read behind a condition around R? A slot that
  /// has returned reads nothing any more; one without the condition goes on:
  ///
  ///     if (t > 70)
  ///       for (int i = 0; i < 2; ++i)
  ///         v += s[i];
  ///     out[g] = v;
  bool changesBehindGuards() const {
    const auto LoopAround = [&](unsigned G) {
      for (int A = M.stmt(G).Parent; A >= 0; A = M.stmt(A).Parent) {
        const Stmt &S = M.stmt(static_cast<unsigned>(A));
        if (S.isLoop())
          return true;
      }
      return false;
    };
    return llvm::any_of(R.Guards, [&](unsigned G) {
      const TextRange In = M.stmt(G).Range;
      const bool Again = LoopAround(G);
      return llvm::any_of(M.VarUses, [&](const VarUse &W) {
        if (!W.Write || llvm::none_of(R.Slot, [&](unsigned C) {
              return M.stmt(C).Range.contains(W.Range);
            }))
          return false;
        return llvm::any_of(Q.usesOf(W.Var), [&](const VarUse *U) {
          return !In.contains(U->Range) && (Again || U->Range.Begin >= In.End) &&
                 !In.contains(M.Vars[W.Var].NameRange) &&
                 M.Vars[W.Var].DeclStmt != stmtOf(*U) && !standsUnder(*U, M.stmt(G));
        });
      });
    });
  }

  /// Slots that have returned run the loop as well.
  bool speculative(const Stmt &Loop) {
    if (Q.readsPointers(Loop.Range))
      return false;
    auto [Known, New] = D.Judged.try_emplace(Loop.Id, Speculation::No);
    if (New)
      Known->second =
          speculationOf(Loop, M, P, D.SlotVars, Q.RegisterArrays);
    if (Known->second == Speculation::IfAnySlot)
      for (unsigned G : D.GuardIfs) // tested in there, it may say no to all
        if (Loop.Range.contains(M.stmt(G).Range))
          return false;
    return Known->second != Speculation::No;
  }

  /// Computes with slot variables and registers only: no harm in running it for
  /// a slot that has returned.
  bool isPure() const {
    for (const Var &V : M.Vars)
      if (V.DynamicIndex)
        return false;
    for (unsigned C : R.Slot) {
      const Stmt &St = M.stmt(C);
      // Such a guard stands at the top of the slot loop, or is left out.
      if (!mayStandFirst(Q, D, R, C) && !isPure(St))
        return false;
    }
    return true;
  }

  bool isPure(const Stmt &St) const {
    if (St.HasCall || St.HasReturn)
      return false;
    if (Q.divides(St.Range)) // one that is not there may have 0, or all of them
      return false;
    for (const Stmt &In : M.Stmts)
      if (St.Range.contains(In.Range) &&
          (In.K == Stmt::While || In.K == Stmt::Do || In.K == Stmt::Switch))
        return false;
    for (unsigned I = 0; I < M.GlobalAccesses.size(); ++I) {
      const GlobalAccess &G = M.GlobalAccesses[I];
      if (St.Range.contains(G.Range) &&
          !(Q.isCollected(I) && G.Stmt == St.Id) && !Q.isFileArrayRead(G))
        return false;
    }
    for (const SharedAccess &A : M.SharedAccesses)
      if (St.Range.contains(A.Range) && !Q.isWindowRead(A))
        return false;
    return true;
  }
};

} // namespace

void rcache::findRegions(const Queries &Q, Division &D) {
  RegionFinder(Q, D).find(0, Q.M.stmt(0).Children);
}
