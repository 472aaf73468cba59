// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Counts.h.

#include "Counts.h"
#include "placements/Placements.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

bool rcache::runsOnce(const Stmt &S) {
  return S.K == Stmt::Do && !S.Cond.is_null() && S.Cond.is_empty();
}

static double roundsOf(const Stmt &Loop) {
  if (Loop.ConstTripCount)
    return static_cast<double>(*Loop.ConstTripCount);
  if (Loop.MeanTripCount)
    return *Loop.MeanTripCount;
  if (Loop.ShownTripCount)
    return std::max(1.0, *Loop.ShownTripCount);
  return Loop.HasBarrier && Loop.HasGlobalRead && !Loop.HasGlobalWrite ? UnknownTiles
                                                                       : UnknownRounds;
}

double rcache::roundsOf(const KernelModel &M, unsigned StmtId) {
  double Rounds = 1;
  for (int Q = static_cast<int>(StmtId); Q >= 0; Q = M.stmt(Q).Parent) {
    const Stmt &S = M.stmt(Q);
    if (S.Cooperative)
      continue;
    if (S.K == Stmt::For)
      Rounds *= ::roundsOf(S);
    else if ((S.K == Stmt::While || S.K == Stmt::Do) && !runsOnce(S))
      Rounds *= UnknownRounds;
  }
  return Rounds;
}

/// The same element for all slots: what is made of it and of nothing that differs
/// has the same uses in each, and what is made of something else as well is a
/// slot's own.
static bool sameForSlots(const KernelModel &M, const SharedAccess &A) {
  return A.Affine &&
         llvm::none_of(M.VarUses,
                       [&](const VarUse &U) {
                         return A.Range.contains(U.Range) &&
                                (M.Vars[U.Var].Depends &
                                 (DepThread | DepShared | DepGlobal));
                       }) &&
         llvm::none_of(M.Builtins, [&](const BuiltinUse &B) {
           return A.Range.contains(B.Range) && B.K == Symbol::ThreadIdx;
         });
}

bool rcache::slotsSeeAlone(const KernelModel &M, const SharedAccess &S) {
  return M.OwnViews && S.K == SharedAccess::Read && M.Arrays[S.Array].ElemBytes > 0 &&
         !sameForSlots(M, S);
}

double rcache::sharingSlots(const KernelModel &M, const SharedAccess &S,
                            const std::array<unsigned, 3> &Factor,
                            bool TapsOutside) {
  if (S.IndexValues.empty())
    return 1;
  bool Looped = false;
  unsigned Inside = 0, Path = 0; // what conditions inside the loop hang on
  for (int Q = static_cast<int>(S.Stmt); Q >= 0; Q = M.stmt(Q).Parent) {
    const Stmt &L = M.stmt(static_cast<unsigned>(Q));
    if (L.HasBarrier)
      break;
    if (L.isLoop()) {
      Looped = true;
      Inside = Path;
    }
    if (L.K == Stmt::If && !L.CondRange.contains(S.Range))
      Path |= L.CondDepends;
  }
  if (Looped && !TapsOutside)
    return 1;
  unsigned Depends = 0;
  for (const ValueRef &V : S.IndexValues)
    Depends |= V ? V->Depends : ~0u;
  // In every round of a loop that the slots run together, a slot under a
  // condition on its own thread reads for itself.
  auto Shared = [&](unsigned Bit, unsigned Slots) {
    return (Depends | Inside) & Bit ? 1.0 : double(Slots);
  };
  return Shared(DepThreadX, Factor[0]) * Shared(DepThreadY, Factor[1]);
}

/// Outputs of a logical thread: a loop with barriers around a store gives one a
/// round.
static double outputRounds(const KernelModel &M) {
  double Most = 1;
  for (const GlobalAccess &G : M.GlobalAccesses) {
    if (G.K == GlobalAccess::Read)
      continue;
    double Rounds = 1;
    for (int Q = static_cast<int>(G.Stmt); Q >= 0; Q = M.stmt(Q).Parent)
      if (M.stmt(Q).HasBarrier) {
        Rounds = roundsOf(M, static_cast<unsigned>(Q));
        break;
      }
    Most = std::max(Most, Rounds);
  }
  return Most;
}

/// Is global memory read for \p V? What threads have handed to each other hangs on
/// it as well.
static bool loads(const Value &V) {
  if (V.K == Value::Load ||
      ((V.Depends & DepGlobal) && !(V.Depends & DepShared)))
    return true;
  return llvm::any_of(V.Operands,
                      [](const ValueRef &Of) { return Of && loads(*Of); });
}

int rcache::loopAround(const KernelModel &M, unsigned StmtId) {
  int Q = M.stmt(StmtId).Parent;
  while (Q >= 0 && !M.stmt(static_cast<unsigned>(Q)).isLoop())
    Q = M.stmt(static_cast<unsigned>(Q)).Parent;
  return Q;
}

bool rcache::loadsToStage(const KernelModel &M, const SharedAccess &S) {
  if (S.K != SharedAccess::Write)
    return false;
  if (!S.Stored || S.Stored->K == Value::Unknown)
    return !S.Stored || !(S.Stored->Depends & DepShared);
  if (!(S.Stored->Depends & DepShared))
    return loads(*S.Stored);
  // (What was loaded in front of a loop is not loaded in each of its rounds.)
  const int Loop = loopAround(M, S.Stmt);
  return loads(*S.Stored) && llvm::any_of(M.GlobalAccesses, [&](const GlobalAccess &G) {
           return G.K == GlobalAccess::Read &&
                  (Loop < 0 || M.stmt(static_cast<unsigned>(Loop)).Range.contains(G.Range));
         });
}

bool rcache::isStagedByMember(const KernelModel &M, const GlobalAccess &G) {
  if (G.K != GlobalAccess::Read)
    return false;
  const Stmt &In = M.stmt(G.Stmt);
  for (unsigned V = 0; V < M.Vars.size(); ++V) {
    const Var &Of = M.Vars[V];
    bool Holds = !Of.IsParam && Of.DeclStmt == G.Stmt && Of.InitRange.contains(G.Range);
    bool Only = true, Staged = false;
    for (const VarUse &U : M.VarUses) {
      if (U.Var != V)
        continue;
      if (U.Write) {
        Holds |= In.K == Stmt::Leaf && U.Range.Begin == In.Range.Begin;
        continue;
      }
      const bool Stages = std::any_of(
          M.SharedAccesses.begin(), M.SharedAccesses.end(),
          [&](const SharedAccess &A) {
            return A.K == SharedAccess::Write && A.Lanes > 1 &&
                   A.StoredRange.contains(U.Range);
          });
      Only &= Stages;
      Staged |= Stages;
    }
    if (Holds && Only && Staged)
      return true;
  }
  return false;
}

PlanCounts rcache::countsOf(const KernelModel &M, const Plan &P) {
  PlanCounts K;
  double Slots = P.slots();
  for (const SharedAccess &S : M.SharedAccesses) {
    const double Rounds = roundsOf(M, S.Stmt);
    if (S.K != SharedAccess::Write)
      K.OriginalSharedReads += Rounds;
    if (S.K != SharedAccess::Read)
      K.OriginalSharedWrites += Rounds;
    if (loadsToStage(M, S))
      K.OriginalGlobalLoads += Rounds;
  }
  K.OriginalLoadInstructions = K.OriginalGlobalLoads;
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Barrier) {
      K.OriginalBarriers += 1;
      K.Barriers += P.scopeOf(S.Id) == SyncScope::Block ? 1 / Slots : 0;
    }
  for (const ArrayPlan &A : P.Arrays) {
    const double Rounds = A.isShared() ? 1 : roundsOf(M, A.Barrier);
    std::visit(
        [&](const auto &Where) { count(Where, Placed{M, P, A}, Rounds, K); },
        A.Where);
  }
  const double Outputs = outputRounds(M);
  for (double *Each :
       {&K.OriginalSharedWrites, &K.OriginalSharedReads, &K.OriginalGlobalLoads,
        &K.OriginalLoadInstructions, &K.GlobalLoads, &K.LoadInstructions,
        &K.Shuffles, &K.Selects, &K.SharedReads, &K.SharedWrites})
    *Each /= Outputs;
  K.Stores = 0;
  for (const GlobalAccess &G : M.GlobalAccesses)
    K.Stores += G.K != GlobalAccess::Read;
  K.StoreInstructions = K.Stores;
  for (auto &V : P.VectorStores)
    K.StoreInstructions -=
        1 - double(M.GlobalAccesses[V.Access].ElemBytes) / V.Bytes;
  K.Registers += 24;
  return K;
}

unsigned rcache::blocksOfOwners(const Plan &P) {
  if (llvm::none_of(P.Arrays, [](const ArrayPlan &A) { return A.as<Owned>() != nullptr; }) ||
      P.Map.mostThreads() > 256)
    return 0;
  return P.Counts.Registers <= 48 ? 3 : P.Counts.Registers <= 96 ? 2 : 0;
}
