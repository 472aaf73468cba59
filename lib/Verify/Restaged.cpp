// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joined blocks: that their threads are the slots of the physical ones, each once;
// that they pass the same barriers; that what the copies of an array are filled with
// is what each of the blocks would have written, and is not overwritten while it is
// still read.

#include "Affine/IslTools.h"
#include "Verifier.h"

namespace rcache::verify {

namespace {

/// Reads of an array since the last barrier of the block, along all ways through
/// the statements: none may be left where it is filled.
class ReadsInFlight {
public:
  ReadsInFlight(const KernelModel &M, const Plan &P, const ArrayPlan &A)
      : M(M), P(P), A(A) {}

  bool meetFill() {
    visit(0);
    return Met;
  }

private:
  const KernelModel &M;
  const Plan &P;
  const ArrayPlan &A;
  bool InFlight = false, Met = false;

  void visit(unsigned Id) {
    const Stmt &S = M.stmt(Id);
    if (S.K == Stmt::Barrier) {
      Met |= Id == A.Barrier && InFlight;
      if (P.scopeOf(Id) == SyncScope::Block && S.Sync != Stmt::Syncwarp)
        InFlight = false;
      return;
    }
    if (!S.HasBarrier) {
      for (const SharedAccess &R : M.SharedAccesses)
        InFlight |= R.Array == A.Array && R.K != SharedAccess::Write &&
                    S.Range.contains(R.Range);
      return;
    }
    const bool Before = InFlight, Loops = S.K != Stmt::Block && S.K != Stmt::If;
    bool After = S.K == Stmt::If && S.Children.size() < 2 && Before;
    for (unsigned Round = 0; Round < (Loops ? 2 : 1); ++Round)
      for (unsigned C : S.Children) {
        if (S.K == Stmt::If)
          InFlight = Before;
        visit(C);
        if (S.K == Stmt::If)
          After |= InFlight;
      }
    if (S.K == Stmt::If)
      InFlight = After;
    else if (Loops)
      InFlight |= Before;
  }
};

} // namespace

/// Along \p Axis: each thread of the joined blocks is one slot of one lane, and
/// what lane and slot add to thread and block has no carry.
void Verifier::checkJoinedAxis(unsigned Axis) {
  const Mapping &Map = P.Map;
  const int64_t Threads = W.block()[Axis], All = Threads * Map.Blocks[Axis],
                Slots = Map.Factor[Axis], Run = Map.Group[Axis];
  if (Slots < 1 || Run < 1 || All % Slots != 0 || Slots % Run != 0)
    wrong("the slots do not fill the joined blocks");
  const int64_t Lanes = All / Slots;
  std::set<int64_t> Met;
  for (int64_t L = 0; L < Lanes; ++L)
    for (int64_t S = 0; S < Slots; ++S) {
      const int64_t First = L * Run, Far = S / Run * (Run * Lanes),
                    Near = S % Run;
      const int64_t Thread = First % Threads + Far % Threads + Near;
      const int64_t Block = First / Threads + Far / Threads;
      if (Thread >= Threads || Block >= int64_t(Map.Blocks[Axis]) ||
          !Met.insert(Block * Threads + Thread).second)
        wrong("two slots are one thread of the joined blocks, or none");
    }
}

/// The warps' rectangles fill that of all lanes.
void Verifier::checkJoinedWarps() {
  const Mapping &Map = P.Map;
  const int64_t X = W.block()[0] * Map.Blocks[0] / Map.Factor[0],
                Y = W.block()[1] * Map.Blocks[1] / Map.Factor[1];
  const int64_t Wide = std::min<int64_t>(8, X), Across = std::max<int64_t>(1, X / Wide);
  std::set<std::pair<int64_t, int64_t>> Met;
  for (int64_t T = 0; T < X * Y; ++T)
    if (Y == 1)
      Met.insert({T, 0});
    else
      Met.insert({T % Wide + T / 32 % Across * Wide,
                  T / Wide % (32 / Wide) + T / (32 * Across) * (32 / Wide)});
  for (const auto &[LX, LY] : Met)
    if (LX >= X || LY >= Y)
      wrong("a physical thread of the joined blocks has no slots");
  if (int64_t(Met.size()) != X * Y || X * Y > 1024)
    wrong("two physical threads of the joined blocks have the same slots");
}

/// Do all of the joined blocks pass each barrier equally often?
void Verifier::checkJoinedBarriers() {
  const Thread First = W.blockIndex();
  std::vector<uint64_t> Rounds;
  forEachJoined([&](const Thread &Part) {
    W.setBlockIndex({First[0] + Part[0], First[1] + Part[1], First[2]});
    std::vector<uint64_t> Of;
    for (const Stmt &S : M.Stmts) {
      if (S.K != Stmt::Barrier)
        continue;
      uint64_t N = 0;
      W.forEachRound(S.Id, 0, [&] { N += S.Domain.is_null() || W.holds(S.Domain); });
      Of.push_back(N);
    }
    if (!Rounds.empty() && Rounds != Of)
      wrong("the joined blocks do not pass the same barriers");
    Rounds = std::move(Of);
  });
  W.setBlockIndex(First);
}

/// Tiles on their way: between the staging barriers of two rounds one half is read
/// and the other one filled, from memory that the loop does not change, by what a
/// round's number tells.
void Verifier::checkAhead() {
  const Plan::TilesAhead &Ahead = *P.Ahead;
  const Stmt &Loop = M.stmt(Ahead.Loop), &Staged = M.stmt(Ahead.Staged);
  if (Ahead.Tiles != 2 || Staged.Parent < 0 ||
      M.stmt(unsigned(Staged.Parent)).Parent != int(Loop.Id) ||
      M.stmt(Ahead.Used).Parent != Staged.Parent)
    wrong("the tiles ahead are not those of the loop's rounds");
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Barrier && Loop.Range.contains(S.Range) &&
        S.Id != Ahead.Staged && S.Id != Ahead.Used)
      wrong("a barrier between tiles that are ahead");
  for (const GlobalAccess &G : M.GlobalAccesses)
    if (G.K != GlobalAccess::Read && Loop.Range.contains(G.Range))
      wrong("memory changes while tiles are ahead");
  std::set<std::string> Changes; // in the loop
  for (const Symbol &S : M.Symbols)
    if (S.K == Symbol::ThreadIdx ||
        ((S.K == Symbol::Iterator || S.K == Symbol::Opaque) &&
         S.Factors.empty() && !S.Anywhere &&
         &S - M.Symbols.data() != Loop.IterSymbol))
      Changes.insert(S.Id);
  auto Steady = [&](const isl::set &D) {
    for (const std::string &Id : involvedIds(D))
      if (Changes.count(Id))
        wrong("'" + Id + "' is not known a round ahead");
  };
  if (!Loop.Cond.is_null())
    Steady(Loop.Cond);
  else
    for (const VarUse &U : M.VarUses)
      if (Loop.CondRange.contains(U.Range) && int(U.Var) != Loop.IterVar &&
          M.Vars[U.Var].Assigned)
        wrong("'" + M.Vars[U.Var].Name + "' is not known a round ahead");
  for (const ArrayPlan &Plan : P.Arrays) {
    if (Plan.Barrier != Ahead.Staged)
      wrong("an array that is not staged with the tiles ahead");
    for (const unsigned R : Plan.Reads)
      if (!Loop.Range.contains(M.SharedAccesses[R].Range) ||
          M.SharedAccesses[R].Range.Begin < Staged.Range.End)
        wrong("a tile is read where another one is meant");
    for (const StagePiece &Piece : Plan.Stage.Pieces)
      Steady(Piece.Domain);
  }
}

void Verifier::checkJoined() {
  if (P.Ahead)
    checkAhead();
  for (const GlobalAccess &G : M.GlobalAccesses)
    if (G.K == GlobalAccess::Atomic)
      wrong("joined blocks with atomics");
  for (const ArrayPlan &Plan : P.Arrays)
    if (!Plan.as<Restaged>())
      wrong("the joined blocks would share an array that each has");
  if (P.Map.Merge || P.Map.Blocks[2] != 1 || !P.KeepBarriers || !P.Narrowed.empty())
    wrong("joined blocks whose barriers are not those of the block");
  for (unsigned Axis = 0; Axis < 3; ++Axis)
    checkJoinedAxis(Axis);
  checkJoinedWarps();
  checkJoinedBarriers();
}

/// The corners of the rectangle of joined blocks.
void Verifier::forEachJoined(const std::function<void(const Thread &)> &F) const {
  const auto &N = P.Map.Blocks;
  for (int64_t Y : std::set<int64_t>{0, int64_t(N[1]) - 1})
    for (int64_t X : std::set<int64_t>{0, int64_t(N[0]) - 1})
      F({X, Y, 0});
}

/// What block \p Part of those joined finds in its copies is what it would have
/// staged.
void Verifier::checkCopy(const Restaged &R, const Thread &Start,
                         const Thread &Part) {
  Thread Mine = Start, Filled = Start; // whose copy it is
  for (unsigned Axis = 0; Axis < 3; ++Axis) {
    Mine[Axis] += Part[Axis];
    Filled[Axis] += R.PerBlock[Axis] ? Part[Axis] : 0;
  }
  W.setBlockIndex(Mine);
  executeWrites();
  W.setBlockIndex(Filled);
  Element E(R.Extent.size(), 0);
  for (bool More = true; More;) {
    askFor(E, /*Needed=*/true);
    More = false;
    for (size_t D = E.size(); D-- > 0 && !More;) {
      More = ++E[D] < R.Extent[D];
      if (!More)
        E[D] = 0;
    }
  }
  W.setBlockIndex(Mine);
}

/// All reads lie in the copies, and see what has been staged.
void Verifier::checkRestagedReads(const Restaged &R) {
  Thread T;
  const Thread N = W.block();
  for (int64_t Linear = 0; Linear < N[0] * N[1] * N[2]; Linear += 7) {
    T = {Linear % N[0], Linear / N[0] % N[1], Linear / N[0] / N[1]};
    for (const unsigned Access : A->Reads) {
      const SharedAccess &S = M.SharedAccesses[Access];
      W.setThread(T);
      W.forEachRound(S.Stmt, A->Barrier, [&] {
        W.setThread(T);
        if (!W.holds(S.Domain))
          return;
        const Element E = W.element(S.Index);
        for (size_t D = 0; D < E.size(); ++D)
          if (E.size() != R.Extent.size() || E[D] < 0 || E[D] >= R.Extent[D])
            wrong("thread " + str(T) + " reads " + name() + str(E) +
                  ", which no copy has");
        if (!Contents.count(E) && A->Stage.CoverageProved && S.DomainExact)
          wrong("thread " + str(T) + " reads " + name() + str(E) +
                ", which is not staged, although coverage is said to be proved");
      });
    }
  }
}

void Verifier::restagedInLaunch(const Restaged &R) {
  if (!P.Map.joins())
    wrong("an array is restaged without joined blocks");
  if (!P.Ahead && ReadsInFlight(M, P, *A).meetFill())
    wrong(name() + " is filled while it may still be read");
  for (const int64_t X : R.Extent)
    if (X < 1)
      wrong("the copies of " + name() + " have no shape");
  const Thread Start = W.blockIndex();
  forEachJoined([&](const Thread &Part) {
    checkCopy(R, Start, Part);
    checkRestagedReads(R);
  });
  W.setBlockIndex(Start);
}

} // namespace rcache::verify
