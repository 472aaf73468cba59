// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StagingCosts.h. The block is executed warp by warp: the loops around the
// statement with the lanes that are still in them, then the guards as a union
// of boxes of threads.

#include "StagingCosts.h"
#include "Affine/IslTools.h"
#include "Arithmetic.h"
#include "Plan/Counts.h"
#include "Plan/Values.h"
#include "Registers.h"
#include "SharedReads.h"
#include "StagedReads.h"
#include <algorithm>
#include <set>

using namespace rcache;

namespace {

/// Coordinates of a thread in its block.
using Lane = std::array<int64_t, 3>;
using Box = ThreadBox;

constexpr const char *ThreadIds[3] = {"tx", "ty", "tz"};
constexpr const char *BlockIds[3] = {"bdx", "bdy", "bdz"};

isl::set withBlock(isl::set S, const std::array<int64_t, 3> &Block) {
  for (int Ax = 0; Ax < 3; ++Ax)
    S = bindConst(S, BlockIds[Ax], Block[Ax]);
  return S;
}

/// A loop that is shared out among threads: thread number p of the axes takes
/// part in the rounds p, p + Threads, ... of Count.
struct SharedLoop {
  unsigned Axes = 0;
  int64_t Count = 0, Threads = 1;

  int64_t position(const Lane &T, const std::array<int64_t, 3> &Block) const {
    int64_t P = 0;
    for (int Ax = 2; Ax >= 0; --Ax)
      if (Axes & (DepThreadX << Ax))
        P = P * Block[Ax] + T[Ax];
    return P;
  }
  int64_t trips(int64_t Position) const {
    return Position >= Count ? 0 : (Count - Position + Threads - 1) / Threads;
  }
};

/// nullopt: its first or last value is no constant.
std::optional<SharedLoop> sharedLoop(const KernelModel &M, const Stmt &S,
                                     const std::array<int64_t, 3> &Block) {
  if (S.IterSymbol < 0 || S.IterDomain.is_null())
    return std::nullopt;
  const isl::set D = withBlock(S.IterDomain, Block);
  const isl::pw_aff It = symbolValue(D.ctx(), M.Symbols[S.IterSymbol].Id);
  auto Lo = minConst(It, D), Hi = maxConst(It, D);
  if (!Lo || !Hi)
    return std::nullopt;
  SharedLoop L;
  L.Axes = S.CooperativeAxes;
  L.Count = *Hi - *Lo + 1;
  for (int Ax = 0; Ax < 3; ++Ax)
    if (L.Axes & (DepThreadX << Ax))
      L.Threads *= Block[Ax];
  return L;
}

/// The threads that the guards around \p S may let through, as boxes: within
/// each part of the condition each axis by itself.
std::vector<Box> guardedThreads(const KernelModel &M, const Stmt &S,
                                const std::array<int64_t, 3> &Block,
                                const Counters::Values &Counts) {
  const Box All = {{{0, Block[0] - 1}, {0, Block[1] - 1}, {0, Block[2] - 1}}};
  if (S.Domain.is_null())
    return {All};
  isl::set D = atCounts(withBlock(S.Domain, Block), Counts);
  std::vector<std::string> Others;
  for (const std::string &Id : involvedIds(D))
    if (Id != "tx" && Id != "ty" && Id != "tz")
      Others.push_back(Id);
  D = projectOut(D, Others);
  for (int Ax = 0; Ax < 3; ++Ax) {
    const isl::pw_aff T = symbolValue(D.ctx(), ThreadIds[Ax]);
    D = D.intersect(inRange(T, constantValue(D.ctx(), 0),
                            constantValue(D.ctx(), Block[Ax])));
  }
  std::vector<Box> Boxes;
  D.foreach_basic_set([&](const isl::basic_set &Part) {
    const isl::set P(Part);
    if (P.is_empty())
      return;
    Box B = All;
    for (int Ax = 0; Ax < 3; ++Ax) {
      const isl::pw_aff T = symbolValue(D.ctx(), ThreadIds[Ax]);
      B[Ax].first = minConst(T, P).value_or(B[Ax].first);
      B[Ax].second = maxConst(T, P).value_or(B[Ax].second);
    }
    Boxes.push_back(B);
  });
  return Boxes;
}

bool holds(const std::vector<Box> &Boxes, const Lane &At) {
  return llvm::any_of(Boxes, [&](const Box &B) {
    for (int Ax = 0; Ax < 3; ++Ax)
      if (At[Ax] < B[Ax].first || At[Ax] > B[Ax].second)
        return false;
    return true;
  });
}

/// The part of a block's warps, slot by slot, that have a lane in one of \p Boxes.
double shareOfSlots(const std::vector<Box> &Boxes, const std::array<int64_t, 3> &Block,
                    const Mapping &Map) {
  std::set<std::pair<int64_t, int64_t>> Of, In; // warp, slot
  for (int64_t T = 0; T < Block[0] * Block[1] * Block[2]; ++T) {
    const Lane At = {T % Block[0], T / Block[0] % Block[1], T / Block[0] / Block[1]};
    int64_t Thread = 0, Slot = 0;
    for (int Ax = 2; Ax >= 0; --Ax) {
      const int64_t F = Map.Factor[Ax], S = Map.Stride[Ax];
      Thread = Thread * (Block[Ax] / F) + (S == 1 ? At[Ax] / F : At[Ax] % S);
      Slot = Slot * F + (S == 1 ? At[Ax] % F : At[Ax] / S);
    }
    Of.insert({Thread / 32, Slot});
    if (holds(Boxes, At))
      In.insert({Thread / 32, Slot});
  }
  return double(In.size()) / double(Of.size());
}

/// One warp: the lanes in the outermost of the loops that are left.
class WarpRun {
public:
  WarpRun(const std::vector<SharedLoop> &Loops,
          const std::array<int64_t, 3> &Block)
      : Loops(Loops), Block(Block) {}

  void run(const std::vector<Lane> &Lanes, size_t Depth = 0) {
    if (Lanes.empty())
      return;
    if (Depth == Loops.size()) {
      Warp += 1;
      Thread += double(Lanes.size());
      return;
    }
    const SharedLoop &L = Loops[Depth];
    for (int64_t Round = 0;; ++Round) {
      std::vector<Lane> In;
      for (const auto &T : Lanes)
        if (L.trips(L.position(T, Block)) > Round)
          In.push_back(T);
      if (In.empty())
        return;
      run(In, Depth + 1);
    }
  }

  double Warp = 0, Thread = 0;

private:
  const std::vector<SharedLoop> &Loops;
  const std::array<int64_t, 3> &Block;
};

} // namespace

StagingTrips rcache::stagingTrips(const KernelModel &M, unsigned StmtId,
                                  const std::array<int64_t, 3> &Block,
                                  const Counters::Values &Counts) {
  std::vector<SharedLoop> Loops;
  for (int Q = static_cast<int>(StmtId); Q >= 0; Q = M.stmt(Q).Parent) {
    const Stmt &S = M.stmt(static_cast<unsigned>(Q));
    if (S.HasBarrier)
      break;
    if (S.Cooperative)
      if (auto L = sharedLoop(M, S, Block))
        Loops.insert(Loops.begin(), *L);
  }
  // Longer loops than any shared array needs are not walked through.
  double Rounds = 1;
  for (const SharedLoop &L : Loops)
    Rounds *= double(L.Count) / double(L.Threads) + 1;
  if (Rounds > 10000)
    Loops.clear();
  const std::vector<Box> Boxes = guardedThreads(M, M.stmt(StmtId), Block, Counts);
  StagingTrips R;
  R.Warp = R.Thread = 0;
  const int64_t Threads = Block[0] * Block[1] * Block[2];
  for (int64_t First = 0; First < Threads; First += 32) {
    std::vector<Lane> Lanes;
    for (int64_t T = First; T < std::min(First + 32, Threads); ++T) {
      const Lane At = {T % Block[0], T / Block[0] % Block[1],
                       T / Block[0] / Block[1]};
      if (holds(Boxes, At))
        Lanes.push_back(At);
    }
    WarpRun W(Loops, Block);
    W.run(Lanes);
    R.Warp += W.Warp;
    R.Thread += W.Thread;
    R.Serial = std::max(R.Serial, W.Warp);
  }
  R.Warp /= double((Threads + 31) / 32);
  R.Thread /= double(Threads);
  return R;
}

//===-- What it costs -----------------------------------------------------===//

/// Instructions of a loop's head or a test: a sum, a comparison, a branch.
static constexpr double LoopHead = 3;

Staging::Staging(const KernelModel &M, const std::array<int64_t, 3> &Block)
    : M(M), Block(Block), Part(M.Stmts.size()), Of(M, Block) {
  for (const SharedAccess &A : M.SharedAccesses)
    if (A.K != SharedAccess::Write)
      for (int Q = static_cast<int>(A.Stmt); Q >= 0; Q = M.stmt(Q).Parent)
        Reading.insert(static_cast<unsigned>(Q));
  for (const Stmt &S : M.Stmts)
    Part[S.Id] = (S.Parent >= 0 && Part[static_cast<size_t>(S.Parent)]) ||
                 (S.HasSharedWrite && !S.HasBarrier && !S.HasGlobalWrite &&
                  !Reading.count(S.Id));
}

StagingTrips Staging::trips(unsigned StmtId) const {
  const auto It = Known.find(StmtId);
  if (It != Known.end())
    return It->second;
  // What isl cannot tell counts once.
  auto T = guarded([&] { return stagingTrips(M, StmtId, Block); });
  if (!T)
    llvm::consumeError(T.takeError());
  return Known[StmtId] = T ? *T : StagingTrips();
}

double Staging::furtherRounds() const {
  std::map<int, double> Interval; // by what holds the barrier
  const auto InAnother = [&](const Stmt &S) { // whose rounds are counted there
    for (int Q = S.Parent; Q >= 0; Q = M.stmt(unsigned(Q)).Parent)
      if (Part[size_t(Q)] && M.stmt(unsigned(Q)).Cooperative)
        return true;
    return false;
  };
  for (const Stmt &S : M.Stmts) {
    if (!Part[S.Id] || !S.Cooperative || InAnother(S))
      continue;
    double Serial = 1;
    for (const SharedAccess &A : M.SharedAccesses)
      if (S.Range.contains(A.Range))
        Serial = std::max(Serial, trips(A.Stmt).Serial);
    Interval[S.Parent] += Serial;
  }
  double All = 0;
  for (const auto &[Parent, Serial] : Interval)
    All += (Serial - 1) *
           (Parent >= 0 ? roundsOf(M, static_cast<unsigned>(Parent)) : 1);
  return All;
}

void Staging::count(KernelCounts &K) const {
  const Arithmetic A = arithmetic(M, [&](const Stmt &S) {
    return Part[S.Id] ? roundsOf(M, S.Id) * trips(S.Id).Warp : 0.0;
  });
  K.IntOps += A.Int + A.Index;
  K.FpOps += A.Fp;
  K.DoubleOps += A.Double;
  K.SpecialOps += A.Special;
  for (const Stmt &S : M.Stmts)
    if (Part[S.Id] && (S.K == Stmt::For || S.K == Stmt::If))
      for (unsigned C : S.Children)
        K.OtherOps += LoopHead * roundsOf(M, C) * trips(C).Warp;
}

double Staging::executions(unsigned StmtId) const {
  bool SharedOut = false;
  for (int Q = static_cast<int>(StmtId); Q >= 0; Q = M.stmt(Q).Parent)
    SharedOut |= M.stmt(Q).Cooperative;
  if (SharedOut)
    return roundsOf(M, StmtId) * trips(StmtId).Thread;
  return Of.hasSteps() ? Of.rounds(StmtId) * share(StmtId) : roundsOf(M, StmtId);
}

double Staging::share(unsigned StmtId) const {
  const auto It = Shares.find(StmtId);
  if (It != Shares.end())
    return It->second;
  const auto Visits = Of.visits(StmtId);
  for (const SharedAccess &S : M.SharedAccesses) // guards that are products
    if (S.Stmt == StmtId && !S.ExtraGuards.empty())
      if (const auto All = counted(S))
        return Shares[StmtId] = All->Warps / double(Visits.size());
  double Warps = 0;
  auto Done = guarded([&] {
    for (const Counters::Values &V : Visits)
      Warps += stagingTrips(M, StmtId, Block, V).Warp;
    return Warps / double(Visits.size());
  });
  if (Done)
    return Shares[StmtId] = *Done;
  llvm::consumeError(Done.takeError());
  return Shares[StmtId] = 1; // what isl cannot tell counts for all
}

double Staging::executions(unsigned StmtId, const Mapping &Map) const {
  if (!Of.hasSteps() || Map.slots() == 1 || Map.joins())
    return executions(StmtId);
  const auto [At, New] = Visitors.try_emplace(StmtId);
  if (New) {
    auto Done = guarded([&] {
      std::vector<std::vector<Box>> All;
      for (const Counters::Values &V : Of.visits(StmtId))
        All.push_back(guardedThreads(M, M.stmt(StmtId), Block, V));
      return All;
    });
    if (Done)
      At->second = std::move(*Done);
    else
      llvm::consumeError(Done.takeError());
  }
  if (At->second.empty())
    return executions(StmtId);
  double Share = 0;
  for (const std::vector<Box> &Boxes : At->second)
    Share += shareOfSlots(Boxes, Block, Map);
  // (Guards that boxes do not say are as they are in the original.)
  return Of.rounds(StmtId) * std::max(share(StmtId), Share / double(At->second.size()));
}

std::optional<Accesses> Staging::counted(const SharedAccess &S) const {
  const Assumptions *A = Of.assumptions();
  if (!A)
    return std::nullopt;
  const auto [At, New] = Counted.try_emplace(S.Range.Begin);
  if (!New)
    return At->second;
  auto Found = guarded([&] { return accesses(M, *A, S, Of.visits(S.Stmt)); });
  if (!Found)
    llvm::consumeError(Found.takeError());
  else
    At->second = *Found;
  return At->second;
}

std::optional<double> Staging::wavefronts(const SharedAccess &S) const {
  const auto All = counted(S);
  return All ? std::optional(All->Wavefronts * Of.rounds(S.Stmt) /
                             double(Of.visits(S.Stmt).size()))
             : std::nullopt;
}

double Staging::conflicts(const SharedAccess &S) const {
  const auto All = stepsUnknown(M, S) ? counted(S) : std::nullopt;
  if (!All)
    return 0;
  const double Each = Of.rounds(S.Stmt) / double(Of.visits(S.Stmt).size()),
               Uses = S.K == SharedAccess::ReadWrite ? 2 : 1;
  return Uses * Each * std::max(0.0, All->Wavefronts - All->Warps * words(M, S.Array));
}

double Staging::operations() const {
  KernelCounts All;
  count(All);
  double Elements = 0;
  for (const SharedAccess &S : M.SharedAccesses)
    if (S.K == SharedAccess::Write)
      Elements += roundsOf(M, S.Stmt) * trips(S.Stmt).Warp;
  return All.IntOps / std::max(1.0, Elements);
}

/// Is what \p A stores not loaded, in the other branch of what is? Elements outside of an
/// image, of which most blocks have none.
static bool isOutside(const KernelModel &M, const SharedAccess &A) {
  if (loadsToStage(M, A))
    return false;
  for (int Q = M.stmt(A.Stmt).Parent; Q >= 0; Q = M.stmt(unsigned(Q)).Parent) {
    const Stmt &If = M.stmt(unsigned(Q));
    const bool Other = If.K == Stmt::If && llvm::any_of(M.SharedAccesses, [&](const SharedAccess &B) {
      return B.Array == A.Array && If.Range.contains(B.Range) && loadsToStage(M, B) &&
             llvm::none_of(If.Children, [&](unsigned C) {
               return M.stmt(C).Range.contains(A.Range) && M.stmt(C).Range.contains(B.Range);
             });
    });
    if (Other)
      return true;
  }
  return false;
}

void Staging::write(const SharedAccess &A, KernelCounts &K) const {
  if (isOutside(M, A))
    return;
  const StagingTrips T = trips(A.Stmt);
  const double Rounds = roundsOf(M, A.Stmt), W = words(M, A.Array);
  const unsigned Bytes = std::max(1u, M.Arrays[A.Array].ElemBytes);
  if (Of.hasSteps() && !Part[A.Stmt]) {
    const auto Fronts = stepsUnknown(M, A) ? wavefronts(A) : std::nullopt;
    K.SharedStores += Fronts ? *Fronts : executions(A.Stmt) * W;
    return;
  }
  // A wavefront a word and full warp, and at least one an instruction.
  const double Full = std::min(T.Warp, T.Thread);
  // Members of a vector are loaded and stored together.
  const unsigned Lanes = A.Lanes;
  K.SharedStores += Rounds * (Full * W + (T.Warp - Full) / Lanes);
  if (!loadsToStage(M, A))
    return;
  double Stride = double(Bytes * Lanes);
  for (const GlobalAccess &G : M.GlobalAccesses)
    if (G.K == GlobalAccess::Read && A.StoredRange.contains(G.Range))
      Stride = std::max(Stride, laneStride(M, G).value_or(0));
  K.Loads.push_back({Rounds * Full / Lanes, Bytes * Lanes, Stride});
  if (T.Warp > Full)
    K.Loads.push_back({Rounds * (T.Warp - Full) / Lanes, 4, 0});
}

/// Is something that is loaded divided, or handed to a function?
static bool isComputedOfLoads(const Value &V) {
  const bool Here = V.K == Value::Op && holdsLoad(V) &&
                    (V.Opcode == Value::Div || V.Opcode == Value::Rem ||
                     (V.Opcode == Value::Other && V.Text.find('(') != std::string::npos));
  return Here || (V.K != Value::Load && std::any_of(V.Operands.begin(), V.Operands.end(),
                                                    [](const ValueRef &O) {
                                                      return isComputedOfLoads(*O);
                                                    }));
}

/// Does \p A stage what is computed of loads by operations that compilers call a function
/// for, or branch around?
static bool isSlow(const KernelModel &M, const SharedAccess &A) {
  return M.stmt(A.Stmt).Computes.Special > 0 && A.Stored && isComputedOfLoads(*A.Stored);
}

/// The same where a condition chooses it.
static bool staysBehindBranch(const KernelModel &M, const SharedAccess &A) {
  return isSlow(M, A) &&
         std::any_of(M.Selections.begin(), M.Selections.end(), [&](const Selection &S) {
           return A.StoredRange.contains(S.Range);
         });
}

bool rcache::blocksOverlap(const KernelModel &M, const std::array<int64_t, 3> &Block,
                           unsigned Axis) {
  const std::string Thread = std::string("t") + "xyz"[Axis], Own = std::string("b") + "xyz"[Axis];
  return std::any_of(M.GlobalAccesses.begin(), M.GlobalAccesses.end(), [&](const GlobalAccess &G) {
    if (G.K != GlobalAccess::Write || !G.Index || G.Index->K != Value::Affine)
      return false;
    const auto L = linearForm(G.Index->Aff, always(M.Ctx->ctx()));
    if (!L)
      return false;
    // What a step of \p Id is multiplied by: a number for each product of arguments.
    const auto StepsOf = [&](const std::string &Id) {
      std::map<std::vector<std::string>, int64_t> Steps;
      for (const auto &[Term, C] : L->Terms) {
        const int I = M.symbolIndex(Term);
        std::vector<std::string> F = {Term};
        if (I >= 0 && !M.Symbols[size_t(I)].Factors.empty())
          F = M.Symbols[size_t(I)].Factors;
        if (const auto At = std::find(F.begin(), F.end(), Id); At != F.end()) {
          F.erase(At);
          Steps[F] += C;
        }
      }
      return Steps;
    };
    const auto OfBlock = StepsOf(Own);
    for (const auto &[By, Step] : StepsOf(Thread))
      if (const auto It = OfBlock.find(By);
          It != OfBlock.end() && Step > 0 && It->second > 0 && It->second < Step * Block[Axis])
        return true;
    return false;
  });
}

double rcache::roundsOfTiles(const KernelModel &M, const Plan &P) {
  double All = 0;
  for (const ArrayPlan &A : P.Arrays) {
    const auto *R = A.as<Restaged>();
    if (!R)
      continue;
    // What is computed of a load behind a branch waits for it there.
    const bool Slow = A.Stage.isConditional() &&
                      std::any_of(A.Writes.begin(), A.Writes.end(), [&](unsigned W) {
                        return isSlow(M, M.SharedAccesses[W]);
                      });
    const auto AtOnce = Slow ? 1 : Restaged::atOnce(M.Arrays[A.Array].ElemBytes);
    if (Slow || A.Stage.branches())
      All += std::ceil(double(R->elements(P.Map.Blocks)) / double(P.Map.lanes() * AtOnce));
  }
  return std::max(1.0, All);
}

bool rcache::stagesUnderConditions(const KernelModel &M, const Plan &P) {
  if (!P.allShared())
    return false;
  for (const SharedAccess &A : M.SharedAccesses)
    if (A.K == SharedAccess::Write && staysBehindBranch(M, A))
      return true;
    else if (A.K == SharedAccess::Write)
      for (int Q = M.stmt(A.Stmt).Parent; Q >= 0; Q = M.stmt(Q).Parent) {
        const Stmt &S = M.stmt(Q);
        if (S.HasBarrier)
          break;
        if (S.K == Stmt::If || S.K == Stmt::For || S.K == Stmt::While)
          return true;
      }
  return false;
}
