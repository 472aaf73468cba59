// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See World.h: the loops around a statement, round by round.

#include "Affine/IslTools.h"
#include "World.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace rcache::verify {

static constexpr int64_t MaxRounds = 4096; ///< of one loop

std::vector<unsigned> World::loopsBetween(unsigned StmtId, int Outside) const {
  std::set<int> Around;
  for (int S = Outside; S >= 0; S = M.stmt(S).Parent)
    Around.insert(S);
  std::vector<unsigned> Loops;
  for (int S = static_cast<int>(StmtId); S >= 0; S = M.stmt(S).Parent) {
    const Stmt::Kind K = M.stmt(S).K;
    if ((K == Stmt::For || K == Stmt::While || K == Stmt::Do) &&
        !Around.count(S))
      Loops.push_back(S);
  }
  std::reverse(Loops.begin(), Loops.end());
  return Loops;
}

unsigned World::cooperativeAxes(unsigned StmtId, unsigned Outside) const {
  unsigned Axes = 0;
  for (unsigned L : loopsBetween(StmtId, static_cast<int>(Outside)))
    if (M.stmt(L).Cooperative)
      Axes |= M.stmt(L).CooperativeAxes;
  return Axes & DepThread;
}

/// Bounds of a loop's iterator over all threads of the present launch.
World::Range World::rangeOf(const Stmt &Loop) {
  const auto It = Ranges.find(Loop.Id);
  if (It != Ranges.end())
    return It->second;
  if (Loop.IterSymbol < 0 || Loop.IterDomain.is_null())
    throw Undecided{"a loop whose rounds are not known"};
  Range R;
  const std::string &Iter = M.Symbols[Loop.IterSymbol].Id;
  isl::ctx Ctx = Loop.IterDomain.ctx();
  isl::set S = Loop.IterDomain;
  for (const std::string &Id : involvedIds(S)) {
    const auto At = Pos.find(Id);
    const bool IsThread = Id == "tx" || Id == "ty" || Id == "tz";
    if (Id == Iter || At == Pos.end())
      continue;
    if (IsThread) {
      const unsigned Axis = static_cast<unsigned>(Id[1] - 'x');
      S = S.intersect(inRange(symbolValue(Ctx, Id), constantValue(Ctx, 0),
                              constantValue(Ctx, Block[Axis])));
    } else if (Known[At->second]) {
      S = bindConst(S, Id, Point[At->second]);
    }
  }
  if (!S.is_empty()) {
    const auto Lo = minConst(symbolValue(Ctx, Iter), S);
    const auto Hi = maxConst(symbolValue(Ctx, Iter), S);
    if (!Lo || !Hi || *Hi - *Lo > MaxRounds)
      throw Undecided{"a loop with too many rounds"};
    R = {*Lo, *Hi};
  }
  return Ranges[Loop.Id] = R;
}

/// Do the bounds of loop \p At depend on the iterators of those around?
bool World::boundsMove(const std::vector<unsigned> &Loops, size_t At) const {
  return std::any_of(Loops.begin(), Loops.begin() + At, [&](unsigned Q) {
    const int I = M.stmt(Q).IterSymbol;
    return I < 0 || dependsOn(M.stmt(Loops[At]).IterDomain, M.Symbols[I].Id);
  });
}

void World::runLoops(const std::vector<unsigned> &Loops, size_t At,
                     const std::function<void()> &F) {
  if (At == Loops.size())
    return F();
  const Stmt &Loop = M.stmt(Loops[At]);
  if (Loop.Factor && Loop.FactorSymbol >= 0)
    return runFactors(Loop, [&] { runLoops(Loops, At + 1, F); });
  if (boundsMove(Loops, At))
    Ranges.erase(Loop.Id);
  const Range R = rangeOf(Loop);
  const std::string &Iter = M.Symbols[Loop.IterSymbol].Id;
  for (int64_t I = R.Lo; I <= R.Hi; ++I) {
    if (++Visited > MostRounds)
      throw Undecided{"loops with too many rounds"};
    setIterator(Iter, I);
    if (holds(Loop.IterDomain))
      runLoops(Loops, At + 1, F);
  }
  forget(Iter);
  refreshProducts({position(Iter)});
}

/// The rounds of a loop whose counter is multiplied or divided.
void World::runFactors(const Stmt &Loop, const std::function<void()> &F) {
  if (Loop.Init.is_null() || Loop.Cond.is_null())
    throw Undecided{"a loop whose rounds are not known"};
  const std::string &Id = M.Symbols[Loop.FactorSymbol].Id;
  std::optional<int64_t> V = value(Loop.Init);
  for (int64_t Round = 0; V; ++Round) {
    if (Round > MaxRounds)
      throw Undecided{"a loop with too many rounds"};
    setIterator(Id, *V);
    if (!holds(Loop.Cond))
      break;
    F();
    *V = *Loop.Factor < 0 ? *V / -*Loop.Factor : *V * *Loop.Factor;
  }
  forget(Id);
  refreshProducts({position(Id)});
}

void World::forEachRound(unsigned StmtId, unsigned Outside,
                         const std::function<void()> &F) {
  runLoops(loopsBetween(StmtId, static_cast<int>(Outside)), 0, F);
}

bool World::drawRounds(unsigned StmtId) {
  setThread({0, 0, 0});
  Ranges.clear();
  for (const Symbol &S : M.Symbols)
    if (S.K == Symbol::Iterator) {
      forget(S.Id);
      refreshProducts({position(S.Id)});
    }
  for (unsigned L : loopsBetween(StmtId, -1)) {
    const Stmt &Loop = M.stmt(L);
    if (Loop.IterSymbol < 0)
      continue; // what changes in it is unknown to the model, too
    const Range R = rangeOf(Loop);
    const std::string &Iter = M.Symbols[Loop.IterSymbol].Id;
    std::vector<int64_t> Rounds;
    for (int64_t I = R.Lo; I <= R.Hi; ++I) {
      setIterator(Iter, I);
      if (holds(Loop.IterDomain))
        Rounds.push_back(I);
    }
    if (Rounds.empty())
      return false;
    setIterator(Iter, pick({Rounds.front(), Rounds.back(), pick(Rounds)}));
    Ranges.erase(L);
  }
  const Nullable<isl::set> &Reached = M.stmt(StmtId).Domain;
  return Reached.is_null() || holds(Reached);
}

} // namespace rcache::verify
