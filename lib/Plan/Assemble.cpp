// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Assemble.h: the mapping, a placement for each array, the barriers that are
// left, and the finishing passes (finish/).

#include "Assemble.h"
#include "Affine/IslTools.h"
#include "Counts.h"
#include "Cuts.h"
#include "Legality.h"
#include "WarpRounds.h"
#include "finish/Finish.h"
#include "placements/Owned.h"
#include "placements/ReadEarly.h"
#include "placements/Restaged.h"
#include "placements/Shuffled.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

namespace {

/// Of joined blocks: two physical blocks an SM have room for their tiles.
constexpr int64_t MostTileBytes = 100 * 1024;

class Assembly {
public:
  Assembly(BlockFacts &F, const Form &Fm, bool Whole = false)
      : F(F), M(F.M), Fm(Fm), Whole(Whole || Fm.KeepAll || Fm.OwnAll) {}

  std::optional<Plan> run() {
    if (!findMapping())
      return std::nullopt;
    if (!Whole)
      cut();
    if (Fm.OwnAll && !own())
      return std::nullopt;
    for (unsigned Array = 0; Array < M.Arrays.size() && !Fm.OwnAll; ++Array)
      switch (placeArray(Array)) {
      case Placing::Done:
        continue;
      case Placing::Impossible:
        return std::nullopt;
      case Placing::LeaveIt: // others may leave shared memory without it
        F.Unstaged.insert(Array);
        return Assembly(F, Fm).run();
      }
    // An array that stays may hand something from round to round.
    if (P.Cut && !llvm::all_of(P.Arrays, [](const ArrayPlan &AP) {
          return AP.isStaged();
        }))
      return Assembly(F, Fm, /*Whole=*/true).run();
    if (Fm.Shuffle && !AnyShuffle)
      return std::nullopt; // the same as without
    if (!orderBarriers() || !finish())
      return std::nullopt;
    return std::move(P);
  }

private:
  BlockFacts &F;
  const KernelModel &M;
  const Form &Fm;
  const bool Whole; ///< no loop is cut
  Plan P;
  Assumptions A;    ///< what holds at every launch
  Assumptions Base; ///< and for the first slot's thread: a multiple of the factor
  std::set<unsigned> Loops; ///< whose iterators index registers
  bool AnyShuffle = false;

  //===--- The mapping ---===//

  /// Sets P.Map and what it lets be assumed.
  bool findMapping() {
    const bool Cyclic = Fm.StrideX == 32 && !F.Shape;
    const bool Warp =
        F.R.Layout == PlanRequest::OnlyCyclic && !Fm.KeepAll;
    const unsigned Multiple =
        Fm.Shuffle || Cyclic || Warp || (Fm.OnlyBarriers && !F.Shape)
            ? 32 * Fm.X
            : Fm.X;
    if (F.Shape && (*F.Shape)[0] % Multiple != 0) {
      if (!Fm.Shuffle || Warp)
        F.Out.decline({DeclineCode::BlockShape,
                       "blocks of " + std::to_string((*F.Shape)[0]) +
                           " threads and a factor of " + std::to_string(Fm.X),
                       M.Pos, "take a factor that divides the block"});
      return false;
    }
    P.Map.Factor = {Fm.X, Fm.Rows, 1};
    P.Map.Stride = {Fm.StrideX, 1, 1};
    P.Map.Block = F.Shape;
    P.Map.Blocks = {Fm.Blocks[0], Fm.Blocks[1], 1};
    P.Map.Group = {Fm.Group[0], Fm.Group[1], 1};
    P.Map.BlockMultiple = Multiple;
    // A warp that owns a block does little for each: several make up for the time
    // that an SM takes to begin a block.
    P.Map.TargetThreads = Fm.OwnAll                     ? 256
                          : Fm.X >= 8 && F.isOneDim() ? 64
                                                        : 128;
    A = makeAssumptions(M, F.Shape, Multiple);
    P.Context = projectOut(A.Context, {"tx", "ty", "tz"});
    if (F.K.Order) {
      P.KeepBarriers = true;
      P.BarrierReason = *F.K.Order;
    }
    Base = A;
    const isl::ctx Ctx = M.Ctx->ctx();
    for (int Ax = 0; Ax < 2; ++Ax)
      if (P.Map.Stride[Ax] == 1 && P.Map.Factor[Ax] > 1 && !Fm.joins())
        Base.Context = Base.Context.intersect(
            symbolValue(Ctx, Ax ? "ty" : "tx")
                .mod(static_cast<long>(P.Map.Factor[Ax]))
                .eq_set(constantValue(Ctx, 0)));
    return true;
  }

  /// Rounds of a loop over planes, for several blocks. Too much for the analysis:
  /// the loop stays whole.
  void cut() {
    const Plan Before = P;
    auto Done = guarded([&] {
      if (const auto Whole = cutLoop(M, F.R.AssumeNoAlias, P))
        F.Out.note("one block takes all rounds of the loop in " + *Whole);
      if (P.Cut)
        P.Context = P.Context.intersect(isl::pw_aff(P.Cut->Rounds).domain());
      return 0;
    });
    if (Done)
      return;
    llvm::consumeError(Done.takeError());
    M.Ctx->resetBudget();
    P = Before;
  }

  //===--- Placements ---===//

  enum class Placing { Done, Impossible, LeaveIt };

  Placing placeArray(unsigned Array) {
    const GroupsResult &Groups = F.K.Groups[Array];
    if (Fm.joins())
      return restage(Array) ? Placing::Done : Placing::Impossible;
    if (Groups.Reason || Fm.KeepAll || F.Unstaged.count(Array))
      return keep(Array) ? Placing::Done : Placing::Impossible;
    for (size_t G = 0; G < Groups.Groups.size(); ++G)
      if (const Placing Of = placeGroup(Array, G); Of != Placing::Done)
        return Of;
    return Placing::Done;
  }

  bool own() {
    std::string Why;
    bool Done = ownedArrays(M, A, P, Why);
    for (unsigned Array = 0; Array < M.Arrays.size() && Done; ++Array)
      if (F.K.countsOnStep(Array)) {
        Done = false;
        Why = "what counts on a warp in step cannot be shared out among slots";
      }
    if (!Done && F.Out.NotOwned.empty())
      F.Out.NotOwned = std::move(Why);
    return Done;
  }

  bool restage(unsigned Array) {
    const GroupsResult &Groups = F.K.Groups[Array];
    if (Groups.Reason || Groups.Groups.size() != 1 || F.Unstaged.count(Array))
      return false;
    const StagingGroup &G = Groups.Groups.front();
    const StagingResult &S = F.staging(Array, 0, P.Map.BlockMultiple, A);
    if (S.Reason)
      return false;
    auto Of = restagedArray(M, G, S.F, A, P.Map);
    if (!Of || changedAtBarrier(M, *Of) ||
        movedLoads(M, *Of, P, F.R.AssumeNoAlias))
      return false;
    P.Arrays.push_back(std::move(*Of));
    P.KeepBarriers = true;
    if (P.BarrierReason.empty())
      P.BarrierReason =
          "'" + M.Arrays[Array].Name + "' stays in shared memory";
    return true;
  }

  bool keep(unsigned Array) {
    if (P.slots() > 1 && F.K.countsOnStep(Array))
      return false;
    ArrayPlan S;
    S.Array = Array;
    P.Arrays.push_back(std::move(S));
    P.KeepBarriers = true;
    if (P.BarrierReason.empty())
      P.BarrierReason =
          "'" + M.Arrays[Array].Name + "' stays in shared memory";
    return true;
  }

  Placing placeGroup(unsigned Array, size_t Number) {
    const StagingGroup &G = F.K.Groups[Array].Groups[Number];
    const StagingResult &S =
        F.staging(Array, Number, P.Map.BlockMultiple, A);
    if (S.Reason) {
      F.Out.decline(*S.Reason);
      return !F.K.mayKeep() || F.Unstaged.size() + 1 >= F.K.RegisterArrays
                 ? Placing::Impossible
                 : Placing::LeaveIt;
    }
    WindowsResult W = findWindows(M, G, A, P.Map, Fm.MaxWindow);
    Loops.insert(W.UnrolledLoops.begin(), W.UnrolledLoops.end());
    if (G.Reads.empty()) { // written, never read: the writes go, wherever it is staged from
      ArrayPlan &Unread = P.Arrays.emplace_back();
      Unread.Array = Array;
      Unread.Barrier = G.Barrier;
      Unread.Writes = G.Writes;
      Unread.Where = FromSource();
      Unread.Stage = S.F;
    }
    for (ArrayPlan &AP : W.Windows) {
      AP.Stage = S.F;
      if (!S.F.CoverageProved)
        F.Out.note("not proved: every element of '" + M.Arrays[Array].Name +
                   "' that is read has been staged (elements that the original "
                   "leaves unwritten are undefined there)");
      if (!place(G, AP))
        return Placing::Impossible;
    }
    return Placing::Done;
  }

  bool declined(const std::optional<Decline> &D) {
    if (D)
      F.Out.decline(*D);
    return D.has_value();
  }

  /// Can the values be computed where the staging function is asked?
  static bool isWritten(const std::vector<ValueRef> &Values) {
    return llvm::all_of(Values, [](const ValueRef &V) {
      return V && V->K != Value::Unknown && isWritten(V->Operands);
    });
  }

  /// Of a read whose index is no formula.
  Decline unknownIndex(const SharedAccess &Read) const {
    unsigned On = 0;
    for (const ValueRef &V : Read.IndexValues) {
      if (!V)
        continue;
      On |= V->Depends;
      // `*p`, where p walks over the array in a loop.
      for (const Var &X : M.Vars)
        if (V->K == Value::Unknown && V->Text == X.Name && !X.Type.empty() &&
            X.Type.back() == '*')
          return {DeclineCode::NonAffineIndex,
                  "'" + M.text(Read.Range) + "': where '" + X.Name +
                      "' points changes in a loop",
                  Read.Pos,
                  "write the index out: array[i], with an i that counts"};
    }
    return {On & (DepShared | DepGlobal) ? DeclineCode::DataDependentIndex
                                         : DeclineCode::NonAffineIndex,
            "'" + M.text(Read.Range) + "'", Read.Pos};
  }

  /// Adds \p AP, a window or reads from the source, or what it turns into.
  bool place(const StagingGroup &G, ArrayPlan &AP) {
    if (declined(changedAtBarrier(M, AP)))
      return false;
    fillWindow(AP);
    if (AP.as<FromSource>())
      for (unsigned Rd : AP.Reads)
        if (!isWritten(M.SharedAccesses[Rd].IndexValues)) {
          F.Out.decline(unknownIndex(M.SharedAccesses[Rd]));
          return false;
        }
    Plan Asking = P; // with what the launch would have to check
    auto Moved = movedLoads(M, AP, Asking, F.R.AssumeNoAlias);
    if (AP.as<FromSource>() &&
        (Moved ? Moved->Code == DeclineCode::MayAlias
               : Asking.Separate.size() > P.Separate.size()) &&
        placeEarly(G, AP))
      return true;
    P.Separate = std::move(Asking.Separate);
    if (declined(Moved))
      return false;
    P.Arrays.push_back(std::move(AP));
    return true;
  }

  /// How the window of \p AP is filled: by shuffles if asked for and possible.
  void fillWindow(ArrayPlan &AP) {
    Window *W = AP.window();
    if (!W)
      return;
    std::optional<Distribution> D;
    if (Fm.Shuffle)
      D = distributionOf(*W, M.Arrays[AP.Array], P.Map);
    if (!D)
      findInterior(M, known(AP), AP.Stage, *W, W->Extent);
    else if (D->K == Distribution::Chunked)
      findInterior(M, Base, AP.Stage, *W, {D->Chunk}, 32 * int64_t(D->Chunk));
    chooseVectorLoads(M, AP.Stage, P.Map, *W);
    if (D) {
      AnyShuffle = true;
      AP.Where = Shuffled{std::move(*W), *D};
    }
  }

  /// What is known where \p AP's window is filled, and of threads that fill it.
  Assumptions known(ArrayPlan &AP) {
    Assumptions Here = Base;
    if (!P.Cut)
      return Here;
    Here.Context = Here.Context.intersect(P.Context)
                       .intersect(inRounds(M, AP.Barrier));
    if (!AP.as<Reloaded>())
      return Here;
    Window &W = *AP.window();
    W.Needed = neededThreads(M, P, AP.Reads, Here.Context);
    if (!W.Needed.is_null())
      Here.Context = Here.Context.intersect(W.Needed);
    return Here;
  }

  /// The reads of \p AP, done at the barrier. False: they cannot be.
  bool placeEarly(const StagingGroup &G, const ArrayPlan &AP) {
    auto Early = readEarly(M, G, A, P, AP, MaxHeldWindow, Loops);
    if (!Early)
      return false;
    for (const ArrayPlan &E : *Early)
      if (declined(changedAtBarrier(M, E)) ||
          movedLoads(M, E, P, F.R.AssumeNoAlias))
        return false;
    for (ArrayPlan &E : *Early)
      P.Arrays.push_back(std::move(E));
    return true;
  }

  //===--- Barriers ---===//

  /// False: it is the original.
  bool orderBarriers() {
    if (llvm::any_of(P.Arrays,
                     [](const ArrayPlan &AP) { return AP.inShared(); }))
      P.Map.Merge = false;
    if (P.KeepBarriers && !Fm.joins())
      narrowBarriers();
    if (Fm.OnlyBarriers && P.KeepBarriers)
      endTrees();
    return !Fm.OnlyBarriers || !P.Narrowed.empty() || !P.OfFirstWarp.empty();
  }

  /// Rounds that the first warp has for itself, where their barrier is the block's.
  void endTrees() {
    auto Rounds = guarded([&] { return warpRounds(M, A); });
    if (!Rounds) {
      llvm::consumeError(Rounds.takeError());
      M.Ctx->resetBudget();
      return;
    }
    for (const WarpRounds &R : *Rounds)
      if (P.scopeOf(R.Barrier) == SyncScope::Block)
        P.OfFirstWarp.push_back(R);
  }

  /// The barriers that order less than the block. Too much for the analysis:
  /// they stay.
  void narrowBarriers() {
    const auto Before = P.Separate;
    auto Done = guarded([&] {
      F.scopes(P.Map.BlockMultiple, A).narrow(P);
      return 0;
    });
    if (Done)
      return;
    llvm::consumeError(Done.takeError());
    M.Ctx->resetBudget();
    P.Narrowed.clear();
    P.Separate = Before;
  }

  //===--- Passes ---===//

  bool finish() {
    if (declined(cannotUnroll(M, Loops)))
      return false;
    if (Fm.KeepAll || Fm.joins())
      unrollKeptLoops(M, P.slots(), Loops);
    P.UnrolledLoops.assign(Loops.begin(), Loops.end());
    if (P.KeepBarriers)
      for (const Stmt &S : M.Stmts)
        if (S.HasBarrier && S.K != Stmt::Block && S.K != Stmt::Barrier &&
            (S.CondDepends & (DepBlock | DepGlobal)))
          P.Map.Merge = false; // blocks may take different numbers of rounds
    P.TapsOutside = Fm.KeepAll || Fm.joins();
    findPairs(M, A, P);
    if (!Fm.joins()) {
      findVectorReads(M, A, Base.Context, P);
      findVectorStores(M, F.R.AssumeNoAlias, P);
    }
    askForElements(F, A, P);
    addPreconditions(M, P);
    if (Fm.joins() && Fm.Ahead)
      findTilesAhead(M, P);
    if (Fm.Ahead != P.Ahead.has_value() ||
        (Fm.joins() && P.restagedBytes(M) > MostTileBytes))
      return false;
    addSeparations(M, A, F.fronts(P.Map.BlockMultiple), P);
    P.Counts = countsOf(M, P);
    return true;
  }
};

} // namespace

std::optional<Plan> rcache::assemble(BlockFacts &F, const Form &Fm) {
  return Assembly(F, Fm).run();
}
