// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Planner.h. A candidate is built from: a hypothesis about the block's
// shape, a factor and a layout, and for each array an exchange. What does not
// depend on the candidate (convergence, groups) is done once.

#include "Planner.h"
#include "Affine/IslTools.h"
#include "BarrierScopes.h"
#include "Counts.h"
#include "EarlyReads.h"
#include "Groups.h"
#include "Legality.h"
#include "Separate.h"
#include "Solve.h"
#include "Staging.h"
#include "Streaming.h"
#include "Windows.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <set>

using namespace rcache;

namespace {

using Shape = std::optional<std::array<int64_t, 3>>;

/// What one candidate tries, given the shape of the block.
struct Form {
  unsigned X = 1, Rows = 1; ///< factors
  int64_t StrideX = 1;
  bool Shuffle = false;
  int64_t MaxWindow = MaxHeldWindow;
  std::set<unsigned> Keep; ///< arrays that stay in shared memory by choice
  /// Nothing changes but barriers that have less to order.
  bool OnlyBarriers = false;
};

class Planner {
public:
  Planner(const KernelModel &M, const PlanRequest &R) : M(M), R(R) {}

  PlanOutcome run() {
    if (M.Arrays.empty()) {
      // A model that ends early knows no arrays.
      for (const Decline &D : M.Declines)
        if (D.Code == "not-instantiated" || D.Code == "parse-error" ||
            D.Code == "macro" || D.Code == "too-hard")
          Out.Declines.push_back(D);
      if (Out.Declines.empty())
        decline("no-shared", "", M.Pos);
      return std::move(Out);
    }
    Out.Declines = M.Declines;
    if (!Out.Declines.empty())
      return std::move(Out);
    if (auto D = slotability(M))
      Out.Declines.push_back(*D);
    if (auto D = convergence(M))
      Out.Declines.push_back(*D);
    if (!Out.Declines.empty()) {
      // Behind a statement that cannot be written, what no plan gets around.
      if (Out.Declines[0].Code == "unsupported-statement") {
        collectGroups();
        if (!ArrayReasons.empty())
          Out.Declines = ArrayReasons;
      }
      return std::move(Out);
    }
    collectGroups();
    if (RegisterArrays == 0 && !mayKeep()) {
      Out.Declines = ArrayReasons;
      return std::move(Out);
    }
    Order = globalOrder(M, R.AssumeNoAlias);
    for (const Shape &H : hypotheses()) {
      Staged.clear();
      Unstaged.clear();
      Scopes.clear();
      Fronts.clear();
      TooHard = false;
      if (RegisterArrays)
        inRegisters(H);
      TooHard = false;
      if (mayKeep())
        inSharedMemory(H);
      if (!Out.Candidates.empty())
        break;
    }
    if (!Out.Candidates.empty()) {
      // Why no array can leave shared memory: of interest when merging slots
      // alone gains nothing.
      const bool AllShared = std::all_of(
          Out.Candidates.begin(), Out.Candidates.end(), [](const Plan &P) {
            return std::all_of(
                P.Arrays.begin(), P.Arrays.end(),
                [](const ArrayPlan &A) { return A.X == Exchange::Shared; });
          });
      if (AllShared) {
        Out.WhyShared = ArrayReasons;
        Out.WhyShared.insert(Out.WhyShared.end(), Out.Declines.begin(),
                             Out.Declines.end());
      }
      Out.Declines.clear();
    } else if (Out.Declines.empty())
      decline("block-shape", "", M.Pos);
    return std::move(Out);
  }

private:
  const KernelModel &M;
  const PlanRequest &R;
  PlanOutcome Out;
  std::vector<GroupsResult> Groups; ///< per array
  std::vector<Decline> ArrayReasons;
  unsigned RegisterArrays = 0;
  std::optional<std::string> Order;

  void decline(const char *Code, std::string Detail, const SourcePos &Pos) {
    Decline D{Code, std::move(Detail), Pos};
    if (std::find(Out.Declines.begin(), Out.Declines.end(), D) ==
        Out.Declines.end())
      Out.Declines.push_back(std::move(D));
  }

  void collectGroups() {
    for (unsigned A = 0; A < M.Arrays.size(); ++A) {
      Groups.push_back(findGroups(M, A));
      const GroupsResult &G = Groups.back();
      for (const std::string &N : G.Notes)
        Out.Notes.push_back(N);
      if (G.Reason) {
        ArrayReasons.push_back(*G.Reason);
        continue;
      }
      if (M.Arrays[A].Volatile) {
        ArrayReasons.push_back(
            {"volatile-array", "'" + M.Arrays[A].Name + "'", M.Arrays[A].Pos});
        Groups.back().Reason = ArrayReasons.back();
        continue;
      }
      ++RegisterArrays;
    }
  }

  /// May the slots of a thread share the arrays as the threads did? Between two
  /// barriers the slots run one after the other, one of the orders that the
  /// threads may have had. What counts on a warp in step may not be split.
  bool mayKeep() const {
    for (const SharedArray &A : M.Arrays)
      if (A.Volatile)
        return false;
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::Barrier && S.Sync != Stmt::Syncthreads &&
          S.Sync != Stmt::CooperativeGroup)
        return false;
    for (const Decline &D : ArrayReasons)
      if (D.Code == "divergent-barrier" || D.Code == "shared-atomics" ||
          D.Code == "escaping-array")
        return false;
    for (const GlobalAccess &G : M.GlobalAccesses)
      if (G.K == GlobalAccess::Atomic)
        return false;
    return true;
  }

  /// May the lanes of a warp have to be in step between two barriers, for what
  /// they do with the array? Slots are not.
  bool countsOnStep(unsigned Array) const {
    const auto &Reason = Groups[Array].Reason;
    return M.Arrays[Array].Volatile ||
           (Reason && Reason->Code == "escaping-array");
  }

  /// Candidates whose arrays go to registers wherever they can.
  void inRegisters(const Shape &H) {
    for (unsigned C : factors(H))
      for (unsigned Rows : rowFactors(H, C))
        for (bool Shuffle : {true, false}) {
          Form F;
          F.X = C;
          F.Rows = Rows;
          F.StrideX = R.Layout == PlanRequest::OnlyCyclic ? 32 : 1;
          F.Shuffle = Shuffle;
          if (!Shuffle && !isOneDim(H)) {
            // Larger windows when their rows can be streamed.
            F.MaxWindow = MaxStreamedWindow;
            if (withinBudget([&] { return candidate(H, F); }))
              continue;
            F.MaxWindow = MaxHeldWindow;
          }
          withinBudget([&] { return candidate(H, F); });
        }
  }

  /// Candidates that leave arrays where they are and only merge slots: each
  /// element read from shared memory serves several outputs.
  void inSharedMemory(const Shape &H) {
    std::set<unsigned> All;
    for (unsigned A = 0; A < M.Arrays.size(); ++A)
      All.insert(A);
    const bool Rows = H && !isOneDim(H) && usesAxis(1);
    for (unsigned X : {1u, 2u, 4u, 8u})
      for (unsigned Y : {1u, 2u, 4u, 8u, 16u}) {
        if (X * Y > 16 || (Y > 1 && !Rows))
          continue;
        if (R.Coarsen && *R.Coarsen != (Rows && X == 1 ? Y : X))
          continue;
        if (H && ((*H)[0] % X != 0 || (*H)[1] % Y != 0 ||
                  (*H)[0] * (*H)[1] * (*H)[2] / (X * Y) < 32))
          continue;
        Form F;
        F.X = X;
        F.Rows = Y;
        F.StrideX = X == 1 ? 1 : H ? (*H)[0] / X : 32;
        F.Keep = All;
        F.OnlyBarriers = X * Y == 1;
        withinBudget([&] { return candidate(H, F); });
      }
  }

  /// Does the kernel look at this axis of the thread index or the block?
  bool usesAxis(unsigned Axis) const {
    for (const BuiltinUse &B : M.Builtins)
      if (B.K == Symbol::ThreadIdx && B.Axis == Axis)
        return true;
    return false;
  }

  /// Block shapes to plan for, best first.
  std::vector<Shape> hypotheses() const {
    std::vector<Shape> H;
    if (M.Geo.ConstBlock) {
      H.push_back(M.Geo.ConstBlock);
      return H;
    }
    bool OneDim = !usesAxis(1) && !usesAxis(2);
    for (auto &S : M.Geo.SeenBlocks)
      OneDim &= S[1] == 1 && S[2] == 1;
    if (OneDim) {
      H.push_back(std::nullopt);
      // One shape known: extents in the source may only fit that one.
      std::set<int64_t> Sizes;
      for (auto &S : M.Geo.SeenBlocks)
        Sizes.insert(S[0]);
      if (R.AssumedBlock)
        Sizes.insert(R.AssumedBlock);
      if (Sizes.empty() && M.Geo.MaxThreads)
        Sizes.insert(*M.Geo.MaxThreads);
      if (Sizes.empty())
        Sizes.insert(256);
      for (int64_t S : Sizes)
        H.push_back(std::array<int64_t, 3>{S, 1, 1});
    } else {
      for (auto &S : M.Geo.SeenBlocks)
        H.push_back(S);
      if (H.empty())
        if (auto S = blockOfTile())
          H.push_back(*S);
    }
    return H;
  }

  /// No launch tells the block: a tile s[BY + halo][BX + halo] suggests powers
  /// of two. The launch checks the guess; if it is wrong, the original runs.
  std::optional<std::array<int64_t, 3>> blockOfTile() const {
    for (const SharedArray &A : M.Arrays) {
      if (A.Extents.size() != 2 || !A.Extents[0] || !A.Extents[1])
        continue;
      auto PowerBelow = [](int64_t E) {
        int64_t P = 1;
        while (P * 2 <= E)
          P *= 2;
        return P;
      };
      const int64_t X = PowerBelow(*A.Extents[1]),
                    Y = PowerBelow(*A.Extents[0]);
      if (X >= 8 && Y >= 2 && X * Y >= 32 && X * Y <= 1024)
        return std::array<int64_t, 3>{X, Y, 1};
    }
    return std::nullopt;
  }

  std::vector<unsigned> factors(const Shape &H) const {
    if (R.Coarsen)
      return {*R.Coarsen};
    unsigned Bytes = 1;
    for (unsigned A = 0; A < M.Arrays.size(); ++A)
      if (!Groups[A].Reason)
        Bytes = std::max(Bytes, M.Arrays[A].ElemBytes);
    std::vector<unsigned> F;
    for (unsigned C : {16u, 8u, 4u, 2u, 1u}) {
      if (C == 16 && Bytes > 2)
        continue;
      if (C > 1 && C * Bytes > 64)
        continue;
      if (H && (*H)[0] % C != 0)
        continue;
      F.push_back(C);
    }
    return F;
  }

  bool isOneDim(const Shape &H) const {
    return !H || ((*H)[1] == 1 && (*H)[2] == 1);
  }

  /// Factors along y, beside \p X along x: rows of a tile share most of their
  /// window. Many of them where a thread has few columns.
  std::vector<unsigned> rowFactors(const Shape &H, unsigned X) const {
    std::vector<unsigned> F;
    for (unsigned C : {16u, 8u, 4u, 2u, 1u})
      if (C == 1 ||
          (H && !R.Coarsen && !isOneDim(H) && usesAxis(1) &&
           (C <= 4 || C * X <= 16) && R.Layout == PlanRequest::AnyLayout &&
           (*H)[1] % C == 0))
        F.push_back(C);
    return F;
  }

  /// What \p Candidate returns, each within a budget of its own. False when it
  /// was too much; nothing more of its kind is tried then.
  template <typename Fn> bool withinBudget(Fn &&Candidate) {
    if (TooHard)
      return false;
    M.Ctx->resetBudget();
    auto Done = guarded(Candidate);
    if (Done)
      return *Done;
    TooHard = true;
    decline("too-hard", llvm::toString(Done.takeError()), M.Pos);
    M.Ctx->resetBudget();
    return false;
  }
  bool TooHard = false;

  /// Staging functions of one hypothesis: array, group, multiple.
  std::map<std::array<size_t, 3>, StagingResult> Staged;
  /// Arrays that stay in shared memory: what their elements hold is not known.
  std::set<unsigned> Unstaged;
  /// Of one hypothesis, by multiple.
  std::map<unsigned, BarrierScopes> Scopes;
  std::map<unsigned, FrontSides> Fronts; ///< the same

  /// Can the values be computed where the staging function is asked?
  static bool isWritten(const std::vector<ValueRef> &Values) {
    return std::all_of(Values.begin(), Values.end(), [](const ValueRef &V) {
      return V && V->K != Value::Unknown && isWritten(V->Operands);
    });
  }

  /// False: nothing was found that a plan with smaller windows might not do
  /// better.
  bool candidate(const Shape &H, const Form &Fm) {
    const unsigned C = Fm.X, Rows = Fm.Rows;
    const bool Shuffle = Fm.Shuffle, Cyclic = Fm.StrideX == 32 && !H;
    if (Shuffle && !isOneDim(H))
      return true;
    const bool Warp = R.Layout == PlanRequest::OnlyCyclic && Fm.Keep.empty();
    unsigned Multiple =
        Shuffle || Cyclic || Warp || (Fm.OnlyBarriers && !H) ? 32 * C : C;
    if (H && (*H)[0] % Multiple != 0) {
      if (!Shuffle || Warp)
        decline("block-shape",
                "blocks of " + std::to_string((*H)[0]) +
                    " threads and a factor of " + std::to_string(C),
                M.Pos);
      return true;
    }
    Plan P;
    P.Factor = {C, Rows, 1};
    P.Stride = {Fm.StrideX, 1, 1};
    P.Block = H;
    P.BlockMultiple = Multiple;
    P.TargetThreads = C >= 8 && isOneDim(H) ? 64 : 128;
    Assumptions A = makeAssumptions(M, H, Multiple);
    P.Context = projectOut(A.Context, {"tx", "ty", "tz"});
    if (Order) {
      P.KeepBarriers = true;
      P.BarrierReason = *Order;
    }
    // The first slot's thread: a multiple of the factor.
    Assumptions Base = A;
    for (int Ax = 0; Ax < 2; ++Ax)
      if (P.Stride[Ax] == 1 && P.Factor[Ax] > 1)
        Base.Context =
            Base.Context.intersect(symbolValue(M.Ctx->ctx(), Ax ? "ty" : "tx")
                                       .mod(static_cast<long>(P.Factor[Ax]))
                                       .eq_set(constantValue(M.Ctx->ctx(), 0)));
    bool AnyShuffle = false;
    std::set<unsigned> Loops;
    for (unsigned Ar = 0; Ar < M.Arrays.size(); ++Ar) {
      if (Groups[Ar].Reason || Fm.Keep.count(Ar) || Unstaged.count(Ar)) {
        if (P.slots() > 1 && countsOnStep(Ar))
          return true;
        ArrayPlan S;
        S.Array = Ar;
        S.X = Exchange::Shared;
        P.Arrays.push_back(std::move(S));
        P.KeepBarriers = true;
        if (P.BarrierReason.empty())
          P.BarrierReason =
              "'" + M.Arrays[Ar].Name + "' stays in shared memory";
        continue;
      }
      for (const StagingGroup &G : Groups[Ar].Groups) {
        const std::array<size_t, 3> Key = {
            Ar, size_t(&G - Groups[Ar].Groups.data()), H ? 0 : Multiple};
        auto Known = Staged.find(Key);
        if (Known == Staged.end())
          Known = Staged.emplace(Key, stagingFunction(M, G, A)).first;
        const StagingResult &S = Known->second;
        if (S.Reason) {
          decline(S.Reason->Code.c_str(), S.Reason->Detail, S.Reason->Pos);
          // Others may leave shared memory without it.
          if (!mayKeep() || Unstaged.size() + 1 >= RegisterArrays)
            return true;
          Unstaged.insert(Ar);
          return candidate(H, Fm);
        }
        WindowsResult W =
            findWindows(M, G, A, P.Factor, P.Stride, Fm.MaxWindow);
        Loops.insert(W.UnrolledLoops.begin(), W.UnrolledLoops.end());
        if (G.Reads.empty()) {
          ArrayPlan D; // written, never read: the writes go
          D.Array = Ar;
          D.Barrier = G.Barrier;
          D.Writes = G.Writes;
          D.X = Exchange::Direct;
          W.Windows.push_back(std::move(D));
        }
        for (ArrayPlan &AP : W.Windows) {
          AP.Stage = S.F;
          if (!S.F.CoverageProved)
            note("not proved: every element of '" + M.Arrays[Ar].Name +
                 "' that is read has been staged (elements that the original "
                 "leaves unwritten are undefined there)");
          if (!usable(AP))
            return true;
          if (AP.X == Exchange::Reload) {
            if (Shuffle && toShuffle(AP, C, P.Stride[0])) {
              AnyShuffle = true;
              if (!AP.Cyclic)
                findInterior(M, Base, AP, {AP.Chunk});
            } else
              findInterior(M, Base, AP, AP.Extent);
            chooseVectors(AP, P, A);
          }
          for (unsigned Rd : AP.Reads)
            if (AP.X == Exchange::Direct &&
                !isWritten(M.SharedAccesses[Rd].IndexValues)) {
              decline("data-dependent-index",
                      "'" + M.text(M.SharedAccesses[Rd].Range) + "'",
                      M.SharedAccesses[Rd].Pos);
              return true;
            }
          Plan Kept = P; // with what the launch would have to check
          auto Moved = movedLoads(M, AP, Kept, R.AssumeNoAlias);
          if (AP.X == Exchange::Direct &&
              (Moved ? Moved->Code == "may-alias"
                     : Kept.Separate.size() > P.Separate.size())) {
            auto Early = readEarly(M, G, A, P, AP, MaxHeldWindow, Loops);
            if (Early &&
                std::all_of(Early->begin(), Early->end(), [&](auto &E) {
                  return usable(E) && !movedLoads(M, E, P, R.AssumeNoAlias);
                })) {
              for (ArrayPlan &E : *Early)
                P.Arrays.push_back(std::move(E));
              continue;
            }
          }
          P.Separate = std::move(Kept.Separate);
          if (Moved) {
            decline(Moved->Code.c_str(), Moved->Detail, Moved->Pos);
            return true;
          }
          P.Arrays.push_back(std::move(AP));
        }
      }
    }
    if (Shuffle && !AnyShuffle)
      return true; // the same as without
    for (const ArrayPlan &AP : P.Arrays)
      if (AP.X == Exchange::Shared)
        P.Merge = false;
    if (P.KeepBarriers)
      narrowBarriers(P, A);
    if (Fm.OnlyBarriers && P.Narrowed.empty())
      return true; // the same as the original
    if (!unrollable(Loops))
      return true;
    if (!Fm.Keep.empty())
      keptLoops(Loops, P.slots());
    P.UnrolledLoops.assign(Loops.begin(), Loops.end());
    if (P.KeepBarriers)
      for (const Stmt &S : M.Stmts)
        if (S.HasBarrier && S.K != Stmt::Block && S.K != Stmt::Barrier &&
            (S.CondDepends & (DepBlock | DepGlobal)))
          P.Merge = false; // blocks may take different numbers of rounds
    P.TapsOutside = !Fm.Keep.empty();
    findVectorStores(P);
    addPreconditions(P, H);
    addSeparations(M, A, Fronts[P.BlockMultiple], P);
    P.Counts = countsOf(M, P);
    if (!Fm.Keep.empty()) {
      Out.Candidates.push_back(std::move(P));
      return true;
    }
    bool Held = true;
    for (const ArrayPlan &AP : P.Arrays)
      Held &= heldRegisters(AP) <= MaxHeldWindow;
    if (Fm.MaxWindow > MaxHeldWindow)
      if (auto S = streamRows(M, P, MaxHeldWindow)) {
        dropSingleStores(*S);
        Out.Candidates.push_back(std::move(*S));
      }
    if (!Held)
      return false;
    // The same with the slots inside the loops over taps.
    if (!Loops.empty() && C > 1) {
      Plan Q = P;
      Q.TapsOutside = true;
      dropSingleStores(Q);
      Out.Candidates.push_back(std::move(Q));
    }
    Out.Candidates.push_back(std::move(P));
    return true;
  }

  /// The barriers that order less than the block in \p P. Too much for the
  /// analysis: they stay.
  void narrowBarriers(Plan &P, const Assumptions &A) {
    const auto Before = P.Separate;
    auto Done = guarded([&] {
      auto It = Scopes.find(P.BlockMultiple);
      if (It == Scopes.end())
        It = Scopes
                 .emplace(P.BlockMultiple,
                          BarrierScopes(M, A, R.AssumeNoAlias))
                 .first;
      It->second.narrow(P);
      return 0;
    });
    if (Done)
      return;
    llvm::consumeError(Done.takeError());
    M.Ctx->resetBudget();
    P.Narrowed.clear();
    P.Separate = Before;
  }

  /// Operators in the body of a loop, at least one: about its instructions.
  int64_t operators(const Stmt &Loop) const {
    int64_t N = 0;
    int Depth = 0;
    for (char C : M.text({Loop.HeaderRange.End, Loop.Range.End})) {
      Depth += C == '[';
      Depth -= C == ']';
      N += Depth == 0 && (C == '+' || C == '-' || C == '*' || C == '/');
    }
    return std::max<int64_t>(1, N / 2);
  }

  /// Short loops over arrays that stay shared are unrolled: what the slots read
  /// in common is read once, neighbours along the loop as one vector.
  void keptLoops(std::set<unsigned> &Loops, unsigned Slots) const {
    for (const SharedAccess &A : M.SharedAccesses) {
      if (A.K != SharedAccess::Read)
        continue;
      int64_t Rounds = Slots;
      for (int Q = static_cast<int>(A.Stmt); Q >= 0; Q = M.stmt(Q).Parent) {
        const Stmt &S = M.stmt(static_cast<unsigned>(Q));
        if (S.HasBarrier)
          break;
        if (S.K != Stmt::For || !S.ConstTripCount || S.HasUnrollPragma)
          continue;
        Rounds *= *S.ConstTripCount;
        // The unrolled code stays small for the instruction cache.
        if (Rounds * operators(S) <= 2048)
          Loops.insert(S.Id);
      }
    }
  }

  void note(std::string N) {
    if (std::find(Out.Notes.begin(), Out.Notes.end(), N) == Out.Notes.end())
      Out.Notes.push_back(std::move(N));
  }

  /// The symbols of the staging function must still have their values where
  /// the window is filled: at the barrier.
  bool usable(const ArrayPlan &P) {
    std::set<std::string> Ids;
    for (const StagePiece &S : P.Stage.Pieces) {
      for (auto &I : valueSymbols(S.V))
        Ids.insert(I);
      for (auto &I : involvedIds(S.Domain))
        Ids.insert(I);
      for (const ValueRef &G : S.Guards)
        for (auto &I : valueSymbols(G))
          Ids.insert(I);
    }
    for (const isl::pw_aff &F : P.First)
      for (auto &I : involvedIds(F))
        Ids.insert(I);
    const std::vector<unsigned> &Valid = M.stmt(P.Barrier).ValidSymbols;
    for (unsigned L : P.EarlyLoops) // run at the barrier
      Ids.erase(M.Symbols[static_cast<size_t>(M.stmt(L).IterSymbol)].Id);
    for (const std::string &Id : Ids) {
      int I = M.symbolIndex(Id);
      if (I < 0)
        continue; // an element coordinate
      const Symbol &S = M.Symbols[I];
      // A product is as good as its factors.
      std::function<bool(int)> IsValid = [&](int J) {
        if (J < 0)
          return false;
        const Symbol &T = M.Symbols[J];
        if (T.K <= Symbol::Param || T.Anywhere ||
            std::find(Valid.begin(), Valid.end(), unsigned(J)) != Valid.end())
          return true;
        return !T.Factors.empty() &&
               std::all_of(T.Factors.begin(), T.Factors.end(),
                           [&](const std::string &F) {
                             return IsValid(M.symbolIndex(F));
                           });
      };
      if (!IsValid(I)) {
        decline("several-intervals",
                "'" + S.Text + "' has changed between the staging of '" +
                    M.Arrays[P.Array].Name + "' and its barrier",
                M.stmt(P.Barrier).Pos);
        return false;
      }
    }
    return true;
  }

  /// Width of vector loads: a run of the window, at most 16 bytes.
  void chooseVectors(ArrayPlan &P, const Plan &Pl, const Assumptions &A) const {
    unsigned Bytes = 0;
    for (const VectorLeaf &L : P.Leaves)
      Bytes = std::max(Bytes, bytesOf(L.Load));
    for (VectorLeaf &L : P.Leaves)
      L.ElemBytes = bytesOf(L.Load);
    if (!Bytes)
      return;
    // A vector holds whole elements: those of 12 or 32 bytes come one by one.
    if (Bytes > 16 || !std::has_single_bit(Bytes)) {
      P.VectorBytes = std::min(16u, std::bit_floor(Bytes));
      return;
    }
    // A thread's first element moves by Factor elements from lane to lane.
    unsigned V = 16;
    if (Pl.Stride[0] != 1)
      V = Bytes;
    while (V > Bytes && (Pl.Factor[0] * Bytes) % V != 0)
      V /= 2;
    P.VectorBytes = std::max(V, Bytes);
    // The constant part of the first address tells how many elements stand
    // before an aligned one; the rest is taken as aligned and tested when run.
    for (VectorLeaf &L : P.Leaves) {
      Substitution AtFirst;
      for (size_t D = 0; D < P.First.size(); ++D)
        AtFirst.emplace(P.Stage.ElemIds[D], P.First[D]);
      auto Idx = linearForm(substitute(L.Load->Operands[0]->Aff, AtFirst),
                            always(M.Ctx->ctx()));
      int64_t N = L.ElemBytes ? P.VectorBytes / L.ElemBytes : 1;
      if (Idx && N > 1)
        L.Head = static_cast<unsigned>(((-Idx->Const) % N + N) % N);
    }
  }

  unsigned bytesOf(const ValueRef &Load) const {
    return Load->Root < 0 ? 0 : Load->Bytes;
  }

  /// Turns the window into chunks exchanged by shuffles, if lanes own
  /// consecutive chunks of it.
  bool toShuffle(ArrayPlan &P, unsigned C, int64_t Stride) const {
    if (P.First.size() != 1 || P.Stage.ElemIds.size() != 1)
      return false;
    const SharedArray &A = M.Arrays[P.Array];
    if (A.ElemBytes != 1 && A.ElemBytes != 2 && A.ElemBytes != 4 &&
        A.ElemBytes != 8 && A.ElemBytes != 16)
      return false;
    auto L =
        linearForm(P.First[0], isl::set::universe(P.First[0].domain().space()));
    if (!L)
      return false;
    auto It = L->Terms.find("tx");
    if (It == L->Terms.end())
      return false;
    int64_t W = P.Extent[0];
    if (Stride == 32 && P.SlotSpan &&
        P.SlotStep == 32) { // cyclic: element m of slot s is lane + m away
      if (It->second != 1)
        return false;
      P.X = Exchange::Shuffle;
      P.Cyclic = true;
      P.Chunk = 1;
      return true;
    }
    int64_t B = std::abs(It->second) * C;
    if (P.SlotSpan || Stride != 1 || W <= B || W > 33 * B)
      return false;
    P.X = Exchange::Shuffle;
    P.Chunk = static_cast<unsigned>(B);
    P.Direction = It->second > 0 ? 1 : -1;
    return true;
  }

  bool unrollable(const std::set<unsigned> &Loops) {
    for (unsigned L : Loops)
      for (const Stmt &S : M.Stmts)
        if (S.K == Stmt::Barrier && M.stmt(L).Range.contains(S.Range)) {
          decline("window-too-large",
                  "a loop with barriers would have to be unrolled",
                  M.stmt(L).Pos);
          return false;
        }
    return true;
  }

  /// The widest vectors that a run of slots stores through \p G: the element's
  /// own width when they are not next to each other.
  unsigned storeWidth(const Plan &P, const Assumptions &A,
                      const GlobalAccess &G) const {
    if (P.Stride[0] != 1 || P.Factor[0] < 2 || P.Factor[2] > 1 ||
        isCarried(G) || G.ElemBytes > 8 || !std::has_single_bit(G.ElemBytes))
      return G.ElemBytes;
    auto L = linearCoefficient(A.fix(G.Index->Aff), "tx",
                               A.fix(G.Domain).intersect(A.Context));
    if (!L || *L != 1)
      return G.ElemBytes;
    unsigned V = 16;
    while (V > G.ElemBytes && (P.Factor[0] * G.ElemBytes) % V != 0)
      V /= 2;
    return V;
  }

  /// Is an address carried along a loop over planes or tiles, from round to
  /// round? Each slot has its own then; computed anew for a vector of them it
  /// takes registers that the planes need (a wave equation of radius 4 took
  /// twice as long on an H200).
  bool isCarried(const GlobalAccess &G) const {
    for (int Q = M.stmt(G.Stmt).Parent; Q >= 0; Q = M.stmt(Q).Parent) {
      const Stmt &Loop = M.stmt(Q);
      if (Loop.K != Stmt::For && Loop.K != Stmt::While && Loop.K != Stmt::Do)
        continue;
      for (const VarUse &Write : M.VarUses)
        if (Write.Write && Loop.Range.contains(Write.Range) &&
            static_cast<int>(Write.Var) != Loop.IterVar &&
            llvm::any_of(M.VarUses, [&](const VarUse &Use) {
              return Use.Var == Write.Var && G.Range.contains(Use.Range);
            }))
          return true;
    }
    return false;
  }

  /// Does a condition, or a return before it, keep some threads from \p StmtId?
  bool isGuarded(unsigned StmtId) const {
    for (int Q = M.stmt(StmtId).Parent; Q >= 0; Q = M.stmt(Q).Parent)
      if (M.stmt(Q).K == Stmt::If && !M.stmt(Q).HasBarrier)
        return true;
    return llvm::any_of(M.Stmts, [&](const Stmt &S) {
      return S.K == Stmt::Return && S.Range.End <= M.stmt(StmtId).Range.Begin;
    });
  }

  /// Do the slots use their windows one after the other, outside of loops that
  /// they run through side by side?
  bool computesBySlot(const Plan &P) const {
    auto InTapLoop = [&](const WindowRead &R) {
      int Q = static_cast<int>(M.SharedAccesses[R.Access].Stmt);
      for (; Q >= 0; Q = M.stmt(Q).Parent)
        if (M.stmt(Q).K == Stmt::For && !M.stmt(Q).HasBarrier)
          return true;
      return false;
    };
    return llvm::any_of(P.Arrays, [&](const ArrayPlan &A) {
      return llvm::any_of(A.WindowReads, [&](const WindowRead &R) {
        return !P.TapsOutside || !InTapLoop(R);
      });
    });
  }

  /// Can what \p R says be written again behind the slots' computation? Its
  /// variables then follow from thread and block.
  bool repeatable(TextRange R) const {
    return llvm::all_of(M.VarUses, [&](const VarUse &U) {
      const Var &V = M.Vars[U.Var];
      return !R.contains(U.Range) ||
             (!U.Write && (V.IsParam ? !V.Assigned : V.Repeatable));
    });
  }

  /// What is no vector is not worth collecting where nothing is computed with it.
  void dropSingleStores(Plan &P) const {
    if (!computesBySlot(P))
      llvm::erase_if(P.VectorStores, [&](const Plan::VectorStore &V) {
        return V.Bytes == M.GlobalAccesses[V.Access].ElemBytes;
      });
  }

  /// Stores `out[g] = v` that each slot does at most once a run and nothing of
  /// the slot follows that could see them. Those that are no vectors are
  /// collected where a condition stands before them: without branches between
  /// the slots the compiler shares what they compute alike (a median of 3 x 3
  /// bytes took 0.55 times as long on an H200).
  void findVectorStores(Plan &P) const {
    if (P.slots() < 2)
      return;
    Assumptions A = makeAssumptions(M, P.Block, P.BlockMultiple);
    for (unsigned I = 0; I < M.GlobalAccesses.size(); ++I) {
      const GlobalAccess &G = M.GlobalAccesses[I];
      if (G.K != GlobalAccess::Write || G.StoredRange.empty() || G.Root < 0 ||
          !G.Index || G.Index->K != Value::Affine)
        continue;
      bool InLoop = false;
      for (int S = static_cast<int>(G.Stmt); S >= 0; S = M.stmt(S).Parent) {
        const Stmt &Q = M.stmt(S);
        InLoop |=
            (Q.K == Stmt::For || Q.K == Stmt::While || Q.K == Stmt::Do) &&
            !Q.HasBarrier;
      }
      if (InLoop)
        continue;
      const unsigned V = storeWidth(P, A, G);
      if (V == G.ElemBytes && (!isGuarded(G.Stmt) || !computesBySlot(P) ||
                               !repeatable(G.Range)))
        continue;
      if (std::any_of(P.VectorStores.begin(), P.VectorStores.end(),
                      [&](const Plan::VectorStore &V) { return V.holds(I); }))
        continue;
      // Stores of other branches to the same element (borders set apart).
      std::vector<unsigned> Also;
      for (unsigned J = I + 1; J < M.GlobalAccesses.size(); ++J) {
        const GlobalAccess &O = M.GlobalAccesses[J];
        if (O.K == GlobalAccess::Write && !O.StoredRange.empty() &&
            O.Root == G.Root && O.ElemBytes == G.ElemBytes && O.Index &&
            O.Index->K == Value::Affine && exclusive(O.Stmt, G.Stmt) &&
            std::all_of(Also.begin(), Also.end(),
                        [&](unsigned K) {
                          return exclusive(O.Stmt, M.GlobalAccesses[K].Stmt);
                        }) &&
            equalUnder(A.fix(O.Index->Aff), A.fix(G.Index->Aff), A.Context))
          Also.push_back(J);
      }
      auto Ours = [&](const GlobalAccess &O) {
        const unsigned K = static_cast<unsigned>(&O - M.GlobalAccesses.data());
        return K == I || std::find(Also.begin(), Also.end(), K) != Also.end();
      };
      bool Follows = false;
      std::set<int> Apart; // what else is accessed meanwhile
      for (const GlobalAccess &O : M.GlobalAccesses) {
        if (Ours(O))
          continue;
        const bool MayMeet =
            O.Root == G.Root || mayAlias(M, O.Root, G.Root, R.AssumeNoAlias);
        if (!MayMeet)
          continue;
        // Another access to this memory in the same barrier-free stretch: the
        // order between them would change. Reads before the store are fine.
        bool Before = O.K == GlobalAccess::Read;
        for (const GlobalAccess &S : M.GlobalAccesses)
          if (Ours(S))
            Before &=
                O.Range.End <= S.StoredRange.End || exclusive(O.Stmt, S.Stmt);
        if (Before)
          continue;
        if (canSeparate(M, O.Root, G.Root))
          Apart.insert(O.Root);
        else
          Follows = true;
      }
      for (const SharedAccess &S : M.SharedAccesses)
        if (S.Range.Begin > G.Range.End && isDirect(P, S))
          Follows = true;
      if (Follows)
        continue;
      P.VectorStores.push_back({I, V, std::move(Also)});
      for (int Root : Apart)
        requireSeparate(P, Root, G.Root);
    }
  }

  /// Do two statements stand in different branches of one `if` without barriers,
  /// or in one `switch`? (Of two cases that run into each other the last one's
  /// value is kept, as in memory.)
  bool exclusive(unsigned X, unsigned Y) const {
    for (int P = static_cast<int>(X); P >= 0; P = M.stmt(P).Parent) {
      const Stmt &If = M.stmt(static_cast<unsigned>(P));
      if (If.K == Stmt::Switch && !If.HasBarrier &&
          If.Range.contains(M.stmt(Y).Range))
        return true;
      if (If.K != Stmt::If || If.HasBarrier || If.Children.size() != 2)
        continue;
      for (int K = 0; K < 2; ++K)
        if (M.stmt(If.Children[K]).Range.contains(M.stmt(X).Range) &&
            M.stmt(If.Children[1 - K]).Range.contains(M.stmt(Y).Range))
          return true;
    }
    return false;
  }

  bool isDirect(const Plan &P, const SharedAccess &S) const {
    for (const ArrayPlan &A : P.Arrays)
      if (A.X == Exchange::Direct && !A.Early)
        for (unsigned Rd : A.Reads)
          if (&M.SharedAccesses[Rd] == &S)
            return true;
    return false;
  }

  void addPreconditions(Plan &P, const Shape &H) const {
    auto Add = [&](std::string T, std::string Why) {
      P.Preconditions.push_back({std::move(T), std::move(Why)});
    };
    if (H) {
      Add("rc_block.x == " + std::to_string((*H)[0]) +
              " && rc_block.y == " + std::to_string((*H)[1]) +
              " && rc_block.z == " + std::to_string((*H)[2]),
          "the plan is made for this block");
    } else {
      Add("rc_block.y == 1 && rc_block.z == 1", "one-dimensional blocks");
      Add("rc_block.x % " + std::to_string(P.BlockMultiple) +
              " == 0 && rc_block.x != 0 && rc_block.x <= 1024",
          "each thread stands for " + std::to_string(P.Factor[0]) +
              " neighbours");
    }
    Add("rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0",
        "an empty launch fails as it did");
    if (H)
      Add("rc_grid.x <= 0x7fffffffu / " + std::to_string((*H)[0]),
          "indices fit in 32 bits");
    else
      Add("rc_grid.x <= 0x7fffffffu / rc_block.x", "indices fit in 32 bits");
    for (const std::string &N : M.Form.NonZero)
      Add(N + " != 0", "the outputs of a thread are different elements");
    for (const LaunchFact &F : M.Assumes)
      Add(M.launchCondition(F, "rc_grid", "rc_block"),
          F.MultipleOf ? "lines begin at whole elements"
                       : "index arithmetic does not wrap");
    std::set<std::string> Ids;
    for (const ArrayPlan &A : P.Arrays)
      for (const StagePiece &S : A.Stage.Pieces) {
        for (auto &I : valueSymbols(S.V))
          Ids.insert(I);
        for (auto &I : involvedIds(S.Domain))
          Ids.insert(I);
      }
    for (const std::string &Id : Ids) {
      int I = M.symbolIndex(Id);
      if (I >= 0 && M.Symbols[I].K == Symbol::Param && !M.Symbols[I].Signed &&
          M.Symbols[I].Bits == 32)
        Add(M.Symbols[I].Text + " <= 0x7fffffffu", "computed with in int");
    }
    for (const Symbol &S : M.Symbols)
      if (isLargeUnsigned(S))
        Add(S.Text + " <= 0x7fffffffffffffffull", "computed with in long long");
  }
};

} // namespace

PlanOutcome rcache::enumeratePlans(const KernelModel &M, const PlanRequest &R) {
  M.Ctx->resetBudget();
  auto Result = guarded([&] { return Planner(M, R).run(); });
  if (Result)
    return std::move(*Result);
  PlanOutcome Out;
  Out.Declines.push_back(
      {"too-hard", llvm::toString(Result.takeError()), M.Pos});
  return Out;
}
