// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Waits.h.

#include "Waits.h"
#include "Affine/IslTools.h"
#include "Arithmetic.h"
#include "Constants.h"
#include "LaunchShape.h"
#include "Plan/Counts.h"
#include "SharedReads.h"
#include "StagingCosts.h"
#include "llvm/ADT/STLExtras.h"
#include "rcache/Plan.h"
#include "rcache/Prediction.h"
#include <algorithm>

using namespace rcache;

Waits::Waits(const KernelModel &M, const std::array<int64_t, 3> &Block)
    : M(M), Reads(M.Stmts.size()), Steps(M.Stmts.size()) {
  std::vector<bool> Here(M.Stmts.size()); // of the statement itself
  for (const GlobalAccess &G : M.GlobalAccesses)
    if (G.K == GlobalAccess::Read) {
      Here[G.Stmt] = true;
      for (int Q = static_cast<int>(G.Stmt); Q >= 0; Q = M.stmt(Q).Parent)
        Reads[static_cast<unsigned>(Q)] = true;
    }
  std::vector<unsigned> Barriers;
  std::vector<bool> Behind(M.Stmts.size()); // loads, since the barrier before
  bool Loaded = true;                       // in text order
  for (const Stmt &S : M.Stmts) {
    Loaded = Loaded || Here[S.Id];
    if (S.K != Stmt::Barrier)
      continue;
    Barriers.push_back(S.Id);
    Behind[S.Id] = Loaded;
    Loaded = false;
    const int Around = loopAround(M, S.Id);
    HasSteps |= Around >= 0 ? Around != readingLoop(S.Id) : !Behind[S.Id];
  }
  if (HasSteps)
    llvm::consumeError(guarded([&] {
                         Of = makeAssumptions(M, Block, 32);
                         Counts.emplace(M, *Of);
                         return true;
                       }).takeError());
  for (unsigned S : Barriers) {
    const int Reading = readingLoop(S);
    const double With =
        Reading < 0 ? 1 : roundsOf(M, static_cast<unsigned>(Reading));
    LoadRounds = std::max(
        LoadRounds, Reading < 0 ? 1 : With * partFetched(M.stmt(static_cast<unsigned>(Reading))));
    const int Around = loopAround(M, S);
    if (Around < 0 || Around != Reading)
      Steps[S] = rounds(S) - (Behind[S] ? With : 0);
  }
}

int Waits::readingLoop(unsigned Stmt) const {
  for (int Q = M.stmt(Stmt).Parent; Q >= 0; Q = M.stmt(Q).Parent)
    if (Reads[static_cast<unsigned>(Q)] && M.stmt(Q).isLoop())
      return Q;
  return -1;
}

double Waits::partFetched(const Stmt &Loop) const {
  constexpr double Line = 128, There = 0.05; // bytes; of a round to memory
  if (Loop.IterSymbol < 0 || !Loop.Step)
    return 1;
  const std::string &Counter = M.Symbols[static_cast<size_t>(Loop.IterSymbol)].Id;
  double Most = There;
  for (const GlobalAccess &G : M.GlobalAccesses) {
    if (G.K == GlobalAccess::Write || !Loop.Range.contains(G.Range))
      continue;
    if (G.K != GlobalAccess::Read || !G.Index || G.Index->K != Value::Affine ||
        (G.Index->Depends & (DepThread | DepShared | DepGlobal)))
      return 1;
    auto By = guarded([&] {
      return linearCoefficient(G.Index->Aff, Counter,
                               isl::set::universe(G.Index->Aff.domain().space()));
    });
    if (!By) {
      llvm::consumeError(By.takeError());
      return 1;
    }
    if (!*By)
      return 1;
    Most = std::max(Most, std::abs(double(**By * *Loop.Step)) * G.ElemBytes / Line);
  }
  return std::min(1.0, Most);
}

unsigned Waits::partOf(unsigned Stmt) const {
  unsigned Part = Stmt;
  for (int Q = static_cast<int>(Stmt); Q >= 0 && !M.stmt(Q).HasBarrier;
       Q = M.stmt(Q).Parent)
    Part = static_cast<unsigned>(Q);
  return Part;
}

bool Waits::areKnown(unsigned Stmt) const {
  if (!Counts)
    return false;
  bool InLoop = false;
  for (int Q = M.stmt(partOf(Stmt)).Parent; Q >= 0; Q = M.stmt(Q).Parent)
    if (M.stmt(Q).isLoop()) {
      InLoop = true;
      if (!Counts->ends(static_cast<unsigned>(Q)))
        return false;
    }
  return InLoop && !Counts->at(Stmt).empty();
}

double Waits::rounds(unsigned Stmt) const {
  const double Rounds = roundsOf(M, Stmt);
  if (!areKnown(Stmt))
    return Rounds;
  const int Interval = M.stmt(partOf(Stmt)).Parent;
  return Rounds / roundsOf(M, static_cast<unsigned>(Interval)) *
         double(Counts->at(Stmt).size());
}

std::vector<Counters::Values> Waits::visits(unsigned Stmt) const {
  if (areKnown(Stmt))
    return Counts->at(Stmt);
  auto Some = guarded([&] { return samples(Stmt); });
  if (Some)
    return *Some;
  llvm::consumeError(Some.takeError());
  return {Counters::Values()};
}

std::vector<Counters::Values> Waits::samples(unsigned Stmt) const {
  constexpr int64_t Most = 16;
  const int L = loopAround(M, partOf(Stmt));
  const rcache::Stmt *Loop = L >= 0 ? &M.stmt(L) : nullptr;
  if (!Counts || !Loop || Loop->IterSymbol < 0 || Loop->IterDomain.is_null() ||
      Loop->ConstTripCount.value_or(0) < 2)
    return {Counters::Values()};
  const std::string &Id = M.Symbols[static_cast<size_t>(Loop->IterSymbol)].Id;
  const isl::pw_aff Counter = symbolValue(Loop->IterDomain.ctx(), Id);
  const auto Lo = minConst(Counter, Loop->IterDomain), Hi = maxConst(Counter, Loop->IterDomain);
  if (!Lo || !Hi)
    return {Counters::Values()};
  const int64_t Rounds = *Loop->ConstTripCount, Step = (*Hi - *Lo) / (Rounds - 1);
  std::vector<Counters::Values> Out;
  for (int64_t N = std::min(Rounds, Most), I = 0; I < N; ++I)
    Out.push_back({{Id, *Lo + Step * ((2 * I + 1) * Rounds / (2 * N))}});
  return Out;
}

/// Do the slots of \p P load one after the other: does each, beside its window, load from
/// memory that a store of the slot before may have changed, or branch on what is loaded?
static bool slotsLoadInTurn(const KernelModel &M, const Plan &P, const Staging &Fill) {
  const auto &All = M.GlobalAccesses;
  // What branches on what is loaded waits for it, too.
  bool Loads = false, Waits = llvm::any_of(M.Stmts, [&](const Stmt &S) {
    return (S.CondDepends & DepGlobal) && !Fill.holds(S);
  });
  for (unsigned I = 0; I < All.size(); ++I) {
    const GlobalAccess &G = All[I];
    if (Fill.holds(M.stmt(G.Stmt)))
      continue;
    if (G.K != GlobalAccess::Read) // vectors are stored behind all slots
      Waits |= llvm::none_of(P.VectorStores, [&](auto &V) { return V.holds(I); });
    else if (G.Index && (G.Index->Depends & DepThread) &&
             llvm::none_of(P.VectorReads, [&](auto &V) { return V.Access == I; }))
      Loads |= G.Root < 0 || !M.Params[size_t(G.Root)].IsRestrict;
  }
  return P.slots() > 1 && Loads && Waits &&
         llvm::any_of(P.Arrays, [](const ArrayPlan &A) { return A.window(); });
}

/// Rounds of loads in loops with barriers that stand under a condition of the slots, in a
/// kernel whose arrays a warp owns:
///
///     for (int i = 0; i < rounds; ++i) {
///       if (t >= i && t < 256 - i)
///         next[t] = min(s[t - 1], s[t + 1]) + wall[..];
///
/// Each slot has its block of code, and compilers load in there; rounds that are few and
/// known become one block with selects.
static double guardedRounds(const KernelModel &M, const Plan &P) {
  if (llvm::none_of(P.Arrays, [](const ArrayPlan &A) { return A.as<Owned>(); }))
    return 0;
  constexpr int64_t Unrolled = 4; // (four 1.73x; eight, path_rows of bench/validation, 0.83x)
  double Most = 0;
  for (const GlobalAccess &G : M.GlobalAccesses) {
    if (G.K != GlobalAccess::Read)
      continue;
    bool Guarded = false;
    for (int Q = int(G.Stmt); Q >= 0; Q = M.stmt(unsigned(Q)).Parent) {
      const Stmt &S = M.stmt(unsigned(Q));
      Guarded |= S.K == Stmt::If && !S.HasBarrier &&
                 (S.CondDepends & (DepThread | DepShared | DepGlobal));
      if (Guarded && S.isLoop() && S.HasBarrier &&
          S.ConstTripCount.value_or(Unrolled + 1) > Unrolled)
        Most = std::max(Most, roundsOf(M, S.Id));
    }
  }
  return Most;
}

double rcache::loadsInTurn(const KernelModel &M, const Plan &P, const Staging &Fill,
                           const Constants &Fit) {
  const double Further = P.slots() - 1;
  return slotsLoadInTurn(M, P, Fill)
             ? Further
             : Fit.SlotSerialGuarded * guardedRounds(M, P) * Further;
}

bool rcache::placesAnew(const KernelModel &M, unsigned Stmt) {
  const int Round = M.stmt(Stmt).Parent;
  return Round >= 0 && llvm::any_of(M.SharedAccesses, [&](const SharedAccess &A) {
           return M.stmt(unsigned(Round)).Range.contains(A.Range) && stepsUnknown(M, A);
         });
}

static const WarpRounds *ofFirstWarp(const Plan &P, unsigned Barrier) {
  const auto It = llvm::find_if(
      P.OfFirstWarp, [&](const WarpRounds &R) { return R.Barrier == Barrier; });
  return It == P.OfFirstWarp.end() ? nullptr : &*It;
}

double rcache::partOfWarps(const KernelModel &M, const Plan &P, const Stmt &S) {
  for (int Q = int(S.Id); Q >= 0; Q = M.stmt(unsigned(Q)).Parent) {
    const Stmt &In = M.stmt(unsigned(Q));
    if (In.K == Stmt::If && In.Id != S.Id)
      return 1; // who takes part is counted
    if (const WarpRounds *R = P.roundsOfWarp(In.Id))
      return (R->Before + 32.0 * R->Rounds / double(P.Map.threads())) / (R->Before + R->Rounds);
  }
  return 1;
}

void rcache::addBarriers(const KernelModel &M, const Plan &P, const Waits &Of, bool Planes,
                 const Constants &Fit, KernelCounts &K) {
  // The model was fitted to several outputs a thread with all their barriers;
  // what they gain by narrower ones has not been measured.
  const bool Windows = !P.allShared();
  const bool AsFitted = !P.BarrierReason.empty() && !P.onlyBarriers();
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Barrier) {
      const SyncScope Scope = P.scopeOf(S.Id);
      if (Scope == SyncScope::Block || AsFitted) {
        double Part =
            Windows && Planes && Scope != SyncScope::Block ? Fit.DroppedBarrier : 1;
        if (const WarpRounds *R = ofFirstWarp(P, S.Id)) {
          const double All = R->Before + R->Rounds, Behind = R->Open ? 2 : 1;
          K.WarpSteps += Of.steps(S.Id) * R->Rounds / All;
          Part *= (R->Before + Behind) / All;
        }
        K.Barriers += Of.rounds(S.Id) * Part;
        K.Steps += Of.steps(S.Id) * Part;
        if (placesAnew(M, S.Id))
          K.PlacedSteps += Of.steps(S.Id) * Part;
      } else if (Scope == SyncScope::Warp)
        K.OtherOps += roundsOf(M, S.Id);
    }
}

void rcache::changeBarriers(const KernelModel &M, const Plan &P, const Staging &Fill,
                    const std::array<int64_t, 3> &Block, const Constants &Fit,
                    KernelCounts &K) {
  K.Barriers = K.Steps = K.PlacedSteps = 0;
  addBarriers(M, P, Fill.waits(), walksThroughPlanes(M, Block), Fit, K);
  const Arithmetic Spared = arithmetic(M, [&](const Stmt &S) {
    return Fill.executions(S.Id) * (1 - partOfWarps(M, P, S));
  });
  K.IntOps -= Spared.Int + Spared.Index;
}
