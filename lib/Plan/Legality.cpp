// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Legality.h.

#include "Legality.h"
#include "Affine/IslTools.h"
#include "Separate.h"
#include "Staging.h"
#include <algorithm>
#include <functional>
#include <set>

using namespace rcache;

bool rcache::mayAlias(const KernelModel &M, int A, int B, bool AssumeNoAlias) {
  if (A < 0 || B < 0)
    return !AssumeNoAlias;
  if (A == B)
    return true;
  if (AssumeNoAlias)
    return false;
  // Types tell nothing: a buffer is used anew as something else, and __half
  // holds an unsigned short.
  return !M.Params[A].IsRestrict && !M.Params[B].IsRestrict;
}

std::optional<std::string> rcache::globalOrder(const KernelModel &M,
                                               bool AssumeNoAlias) {
  auto Name = [&](int R) {
    return R < 0 ? std::string("memory of unknown origin")
                 : "'" + M.Params[R].Name + "'";
  };
  std::set<int> Reads, Writes, Atomics;
  for (const GlobalAccess &G : M.GlobalAccesses) {
    if (G.K == GlobalAccess::Atomic)
      Atomics.insert(G.Root);
    else if (G.K != GlobalAccess::Write)
      Reads.insert(G.Root);
    if (G.K == GlobalAccess::Write || G.K == GlobalAccess::ReadWrite)
      Writes.insert(G.Root);
  }
  for (const SharedAccess &S : M.SharedAccesses)
    if (S.Stored) {
      std::vector<ValueRef> Loads;
      collectLoads(S.Stored, Loads);
      for (const ValueRef &L : Loads)
        Reads.insert(L->Root);
    }
  // Atomic operations come in any order among themselves, and in none with others.
  const auto Conflict = [&](const std::set<int> &Written,
                            const std::set<int> &Read) -> std::optional<std::string> {
    for (int W : Written)
      for (int R : Read)
        if (mayAlias(M, W, R, AssumeNoAlias))
          return Name(W) + " is written and may be " +
                 (W == R ? "what is read through it" : Name(R)) + ", which is read";
    return std::nullopt;
  };
  for (const auto &[Written, Read] : {std::pair(&Writes, &Reads), {&Writes, &Atomics},
                                      {&Atomics, &Reads}})
    if (auto Why = Conflict(*Written, *Read))
      return Why;
  // Two writes of one element in different intervals keep their order.
  unsigned Intervals = 0;
  std::set<int> Earlier, Current;
  auto Flush = [&] {
    Earlier.insert(Current.begin(), Current.end());
    Current.clear();
    ++Intervals;
  };
  size_t Next = 0;
  for (const Stmt &S : M.Stmts) {
    if (S.K != Stmt::Barrier)
      continue;
    while (Next < M.GlobalAccesses.size() &&
           M.GlobalAccesses[Next].Range.Begin < S.Range.Begin) {
      if (M.GlobalAccesses[Next].K != GlobalAccess::Read)
        Current.insert(M.GlobalAccesses[Next].Root);
      ++Next;
    }
    Flush();
  }
  for (; Next < M.GlobalAccesses.size(); ++Next)
    if (M.GlobalAccesses[Next].K != GlobalAccess::Read)
      Current.insert(M.GlobalAccesses[Next].Root);
  for (int W : Current)
    for (int E : Earlier)
      if (mayAlias(M, W, E, AssumeNoAlias))
        return Name(W) + " is written on both sides of a barrier";
  // A loop with a barrier and a store inside repeats the store.
  for (const Stmt &S : M.Stmts)
    if (S.isLoop() &&
        S.HasBarrier && S.HasGlobalWrite) {
      // The stores of two rounds are ordered by the barrier if they can meet;
      // that they cannot is not proved here.
      return std::string("a loop with barriers writes global memory in every "
                         "round");
    }
  return std::nullopt;
}

/// Does a barrier of the block stand in \p S?
static bool holdsBlockBarrier(const KernelModel &M, const Stmt &S) {
  if (S.K == Stmt::Barrier)
    return S.Sync != Stmt::Syncwarp;
  return S.HasBarrier &&
         std::any_of(S.Children.begin(), S.Children.end(), [&](unsigned C) {
           return holdsBlockBarrier(M, M.stmt(C));
         });
}

std::optional<Decline> rcache::convergence(const KernelModel &M) {
  for (const Stmt &S : M.Stmts) {
    if (!S.HasBarrier)
      continue;
    const bool Warps = !holdsBlockBarrier(M, S);
    const std::string Cond = "'" + M.text(S.CondRange) + "'";
    switch (S.K) {
    case Stmt::Block:
    case Stmt::Barrier:
      break;
    case Stmt::If:
    case Stmt::For:
    case Stmt::While:
    case Stmt::Do:
      if (!(S.CondDepends & (DepThread | DepShared)))
        break;
      if (Warps)
        return Decline{DeclineCode::UnsupportedStatement,
                       "__syncwarp() under the condition " + Cond +
                           ", which may differ between threads",
                       S.Pos};
      return Decline{
          DeclineCode::DivergentBarrier,
          S.K != Stmt::If ? "threads may leave the loop around it in "
                            "different rounds"
          : S.CondDepends & DepThread
              ? "the condition " + Cond + " may differ between threads"
              : "the condition " + Cond + " is read from shared memory",
          S.Pos};
    default:
      if (Warps)
        break;
      return Decline{DeclineCode::DivergentBarrier,
                     "a barrier inside a switch, or what else is no block, if or loop", S.Pos};
    }
  }
  return std::nullopt;
}

std::optional<Decline> rcache::slotability(const KernelModel &M) {
  for (const BuiltinUse &B : M.Builtins)
    if (B.Axis > 2)
      return Decline{DeclineCode::UnsupportedStatement,
                     "'" + M.text(B.Range) + "' is used as a whole", M.Pos};
  // A return inside a structural loop, or a break out of one, ends the round
  // for one slot only.
  for (const Stmt &S : M.Stmts) {
    if (S.K == Stmt::Return) {
      bool Structural = false;
      for (int P = S.Parent; P >= 0; P = M.stmt(P).Parent) {
        const Stmt &Q = M.stmt(P);
        if (Q.isLoop())
          Structural |= Q.HasBarrier;
      }
      if (Structural)
        return Decline{DeclineCode::DivergentBarrier,
                       "a return inside a loop with barriers", S.Pos};
    }
    if (S.K == Stmt::Break || S.K == Stmt::Continue) {
      unsigned On = 0; // what its conditions hang on
      for (int P = S.Parent; P >= 0; P = M.stmt(P).Parent) {
        const Stmt &Q = M.stmt(P);
        if (Q.K == Stmt::Switch && S.K == Stmt::Break)
          break;
        if (Q.isLoop()) {
          if (Q.HasBarrier && (On & (DepThread | DepShared | DepGlobal)))
            return Decline{
                DeclineCode::DivergentBarrier,
                "a " + std::string(S.K == Stmt::Break ? "break" : "continue") +
                    " in the loop around it hangs on " +
                    (On & DepThread   ? "the thread"
                     : On & DepShared ? "shared data"
                                      : "loaded data"),
                S.Pos};
          if (Q.HasBarrier)
            return Decline{DeclineCode::UnsupportedStatement,
                           "a break or continue in a loop with barriers, alike "
                           "for all threads",
                           S.Pos};
          break;
        }
        On |= Q.CondDepends;
      }
    }
  }
  for (const Var &V : M.Vars) {
    if (V.IsParam || !V.IsReference)
      continue;
    const TextRange Life = {V.DeclRange.End, M.stmt(V.Scope).Range.End};
    if (llvm::any_of(M.Stmts, [&](const Stmt &S) {
          return S.K == Stmt::Barrier && Life.contains(S.Range);
        }))
      return Decline{DeclineCode::UnsupportedStatement,
                     "the reference '" + V.Name + "' lives across a barrier",
                     M.stmt(V.DeclStmt).Pos};
  }
  return std::nullopt;
}

/// Do all who come from or go to \p At in \p Loop (-1: in the kernel) pass \p B, a
/// statement in it?
static bool isPassed(const KernelModel &M, const Stmt &B, TextRange At, int Loop) {
  for (int P = B.Parent; P >= 0 && P != Loop; P = M.stmt(unsigned(P)).Parent) {
    const Stmt &Around = M.stmt(unsigned(P));
    if (Around.K != Stmt::Block && !Around.Range.contains(At))
      return false;
  }
  return true;
}

/// The last barrier of the block that all threads have passed on their way to \p At;
/// null: there may be none.
static const Stmt *barrierBefore(const KernelModel &M, TextRange At) {
  const Stmt *Last = nullptr;
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Barrier && S.Sync != Stmt::Syncwarp &&
        S.Range.End <= At.Begin && isPassed(M, S, At, -1) &&
        (!Last || Last->Range.End < S.Range.End))
      Last = &S;
  return Last;
}

/// Does the store \p G of one round of a loop come to \p At in the next one without a
/// barrier of the block in between?
static bool comesRound(const KernelModel &M, TextRange G, TextRange At) {
  for (const Stmt &L : M.Stmts) {
    if (!L.isLoop() || !L.Range.contains(G) || !L.Range.contains(At))
      continue;
    const bool Stopped = llvm::any_of(M.Stmts, [&](const Stmt &S) {
      return S.K == Stmt::Barrier && S.Sync != Stmt::Syncwarp &&
             L.Range.contains(S.Range) &&
             ((S.Range.End <= At.Begin && isPassed(M, S, At, int(L.Id))) ||
              (S.Range.Begin >= G.End && isPassed(M, S, G, int(L.Id))));
    });
    if (!Stopped)
      return true;
  }
  return false;
}

std::optional<Decline> rcache::movedLoads(const KernelModel &M,
                                          const ArrayPlan &A, Plan &P,
                                          bool AssumeNoAlias) {
  std::set<int> Sources;
  for (const StagePiece &S : A.Stage.Pieces) {
    std::vector<ValueRef> Loads;
    collectLoads(S.V, Loads);
    for (const ValueRef &G : S.Guards)
      collectLoads(G, Loads);
    for (const ValueRef &L : Loads)
      Sources.insert(L->Root);
  }
  /// May the store to \p G change what is read?
  auto Changes = [&](const GlobalAccess &G) {
    for (int S : Sources) {
      if (!mayAlias(M, S, G.Root, AssumeNoAlias))
        continue;
      if (!canSeparate(M, S, G.Root))
        return true;
      requireSeparate(P, S, G.Root);
    }
    return false;
  };
  // Values that were loaded in an earlier round (Carried.cpp) are loaded where
  // they are staged.
  for (unsigned W : A.Writes) {
    std::vector<ValueRef> Loads;
    collectLoads(M.SharedAccesses[W].Stored, Loads);
    for (const ValueRef &G : M.SharedAccesses[W].ExtraGuards)
      collectLoads(G, Loads);
    for (const ValueRef &L : Loads)
      for (int S : L->Survived)
        if (mayAlias(M, L->Root, S, AssumeNoAlias))
          requireSeparate(P, L->Root, S);
  }
  // The thread that staged an element had stored to its source itself, or saw what
  // others had stored in front of a barrier; who reads it now has not waited for either.
  const Stmt &Barrier = M.stmt(A.Barrier);
  TextRange First = Barrier.Range;
  for (unsigned W : A.Writes)
    if (M.SharedAccesses[W].Range.Begin < First.Begin)
      First = M.SharedAccesses[W].Range;
  const Stmt *Before = barrierBefore(M, First);
  const unsigned Begin = Before ? Before->Range.End : 0;
  for (const GlobalAccess &G : M.GlobalAccesses) {
    if (G.K == GlobalAccess::Read)
      continue;
    const bool Early = G.Range.Begin >= Begin && G.Range.End <= Barrier.Range.Begin;
    const bool Late = !Early && comesRound(M, G.Range, First);
    if ((!Early && !Late) || !Changes(G))
      continue;
    const std::string Array = "'" + M.Arrays[A.Array].Name + "'";
    const std::string When =
        Late ? "a round before " + Array + " is staged from it"
        : G.Range.Begin < First.Begin
            ? "in the same interval before " + Array + " is staged from it"
            : "between the staging of " + Array + " and its barrier";
    return Decline{DeclineCode::WritesBeforeBarrier,
                   "'" + M.text(G.Range) + "' is written " + When, G.Pos};
  }
  // Direct reads evaluate the staging function after the barrier: nothing may
  // have been stored meanwhile that it reads.
  if (A.as<FromSource>())
    for (const GlobalAccess &G : M.GlobalAccesses)
      if (G.K != GlobalAccess::Read && Changes(G))
        return Decline{DeclineCode::MayAlias,
                       "'" + M.text(G.Range) + "' is written and '" +
                           M.Arrays[A.Array].Name +
                           "' would be read again from its source",
                       G.Pos};
  return std::nullopt;
}

/// Symbols of the staging function and of where the placement begins.
static std::set<std::string> symbolsOf(const ArrayPlan &P) {
  std::set<std::string> Ids;
  auto Add = [&](const std::vector<std::string> &More) {
    Ids.insert(More.begin(), More.end());
  };
  for (const StagePiece &S : P.Stage.Pieces) {
    Add(valueSymbols(S.V));
    Add(involvedIds(S.Domain));
    for (const ValueRef &G : S.Guards)
      Add(valueSymbols(G));
  }
  if (const Window *W = P.window())
    for (const isl::pw_aff &F : W->First)
      Add(involvedIds(F));
  if (const auto *E = P.as<ReadEarly>())
    for (const isl::pw_aff &F : E->First)
      Add(involvedIds(F));
  return Ids;
}

std::optional<Decline> rcache::changedAtBarrier(const KernelModel &M,
                                                const ArrayPlan &P) {
  std::set<std::string> Ids = symbolsOf(P);
  const std::vector<unsigned> &Valid = M.stmt(P.Barrier).ValidSymbols;
  if (const auto *E = P.as<ReadEarly>())
    for (unsigned L : E->Loops) // run at the barrier
      Ids.erase(M.Symbols[static_cast<size_t>(M.stmt(L).IterSymbol)].Id);
  // A product is as good as its factors.
  std::function<bool(int)> IsValid = [&](int J) {
    if (J < 0)
      return false;
    const Symbol &T = M.Symbols[J];
    if (T.K <= Symbol::Param || T.Anywhere ||
        std::find(Valid.begin(), Valid.end(), unsigned(J)) != Valid.end())
      return true;
    return !T.Factors.empty() && std::all_of(T.Factors.begin(), T.Factors.end(),
                                             [&](const std::string &F) {
                                               return IsValid(M.symbolIndex(F));
                                             });
  };
  for (const std::string &Id : Ids) {
    const int I = M.symbolIndex(Id);
    if (I < 0 || IsValid(I)) // an element coordinate
      continue;
    const Symbol &S = M.Symbols[I];
    if (S.VarId >= 0 &&
        M.Vars[static_cast<size_t>(S.VarId)].DeclStmt > P.Barrier)
      return Decline{
          DeclineCode::NonAffineIndex,
          "which elements of '" + M.Arrays[P.Array].Name +
              "' a thread reads hangs on '" + S.Text +
              "', whose values are not known before it has them",
          M.stmt(P.Barrier).Pos,
          "count with a loop whose condition is about its counter alone"};
    return Decline{DeclineCode::SeveralIntervals,
                   "'" + S.Text + "' is not known to keep its value between the staging of '" +
                       M.Arrays[P.Array].Name + "' and its barrier",
                   M.stmt(P.Barrier).Pos};
  }
  return std::nullopt;
}
