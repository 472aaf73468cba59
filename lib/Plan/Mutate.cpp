// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Mutate.h.

#include "Mutate.h"
#include "Affine/IslTools.h"
#include "Staging.h"

using namespace rcache;

std::optional<Mutation> rcache::parseMutation(const std::string &Text) {
  static const std::pair<const char *, Mutation> Names[] = {
      {"wrong-register", Mutation::WrongRegister},
      {"lane-off-by-one", Mutation::LaneOffByOne},
      {"missing-phase", Mutation::MissingPhase},
      {"missing-guard", Mutation::MissingGuard},
      {"dropped-barrier", Mutation::DroppedBarrier},
      {"wrong-source", Mutation::WrongSource},
      {"missing-tail", Mutation::MissingTail}};
  for (auto &[Name, K] : Names)
    if (Text == Name)
      return K;
  return std::nullopt;
}

namespace {

isl::pw_aff plus(const isl::pw_aff &A, int64_t N) {
  return A.add(constantValue(A.ctx(), N));
}

/// The last register index of a read, changed by \p N within the window.
void rotate(WindowRead &W, int64_t Extent, int64_t N) {
  W.Register.back() = floorMod(plus(W.Register.back(), N), Extent);
}

bool wrongRegister(ArrayPlan &A, unsigned Seed) {
  if (A.WindowReads.empty() || A.Extent.empty() || A.Extent.back() < 2)
    return false;
  WindowRead &W = A.WindowReads[Seed % A.WindowReads.size()];
  if (W.Register.empty())
    return false;
  rotate(W, A.Extent.back(), 1);
  return true;
}

bool laneOffByOne(ArrayPlan &A) {
  if (A.X != Exchange::Shuffle || A.First.empty())
    return false;
  int64_t Step = A.Cyclic ? 1 : int64_t(A.Chunk) * A.Direction;
  A.First.back() = plus(A.First.back(), Step);
  return true;
}

/// Registers from \p Begin of the last phase on are read one chunk lower.
bool missingPhase(ArrayPlan &A) {
  if (A.X != Exchange::Shuffle || A.Cyclic || !A.Chunk || A.Extent.empty())
    return false;
  int64_t Chunk = A.Chunk, Begin = (A.Extent.back() - 1) / Chunk * Chunk;
  bool Any = false;
  for (WindowRead &W : A.WindowReads) {
    if (W.Register.empty())
      continue;
    isl::pw_aff &R = W.Register.back();
    isl::pw_aff Lower = plus(R, -Chunk);
    isl::set Last = lessEqual(constantValue(R.ctx(), Begin), R);
    Any |= !Last.is_empty();
    R = Lower.intersect_domain(Last).union_add(
        R.intersect_domain(Last.complement()));
  }
  return Any;
}

bool missingGuard(ArrayPlan &A, unsigned Seed) {
  if (A.Stage.Pieces.empty())
    return false;
  StagePiece &S = A.Stage.Pieces[Seed % A.Stage.Pieces.size()];
  bool All = S.Guards.empty() && S.Domain.is_equal(always(S.Domain.ctx()));
  S.Guards.clear();
  S.Domain = always(S.Domain.ctx());
  if (A.InteriorPiece >= 0)
    A.Interior = always(A.Interior.ctx());
  return !All;
}

bool wrongSource(ArrayPlan &A) {
  if (A.Stage.ElemIds.empty())
    return false;
  if (!A.First.empty()) {
    A.First.back() = plus(A.First.back(), 1);
    return true;
  }
  bool Any = false;
  for (StagePiece &S : A.Stage.Pieces) {
    isl::pw_aff E = symbolValue(S.Domain.ctx(), A.Stage.ElemIds.back());
    ValueRef V = substituteValue(S.V, {{A.Stage.ElemIds.back(), plus(E, 1)}});
    Any |= V != S.V;
    S.V = V;
  }
  return Any;
}

/// The first piece that loads something: one that gives a constant may be what
/// an element in no piece gets anyway.
bool missingTail(ArrayPlan &A) {
  if (A.Stage.Pieces.size() < 2)
    return false;
  for (size_t I = 0; I < A.Stage.Pieces.size(); ++I) {
    std::vector<ValueRef> Loads;
    collectLoads(A.Stage.Pieces[I].V, Loads);
    if (Loads.empty())
      continue;
    A.Stage.Pieces.erase(A.Stage.Pieces.begin() + static_cast<long>(I));
    A.InteriorPiece = -1;
    A.Leaves.clear();
    return true;
  }
  return false;
}

} // namespace

bool rcache::mutatePlan(Plan &P, Mutation K, unsigned Seed) {
  if (K == Mutation::DroppedBarrier) {
    bool Had = P.KeepBarriers;
    P.KeepBarriers = false;
    return Had;
  }
  bool Any = false;
  for (ArrayPlan &A : P.Arrays) {
    if (A.Reads.empty() || A.X == Exchange::Shared)
      continue;
    switch (K) {
    case Mutation::WrongRegister:
      Any |= wrongRegister(A, Seed);
      break;
    case Mutation::LaneOffByOne:
      Any |= laneOffByOne(A);
      break;
    case Mutation::MissingPhase:
      Any |= missingPhase(A);
      break;
    case Mutation::MissingGuard:
      Any |= missingGuard(A, Seed);
      break;
    case Mutation::WrongSource:
      Any |= wrongSource(A);
      break;
    case Mutation::MissingTail:
      Any |= missingTail(A);
      break;
    case Mutation::DroppedBarrier:
      break;
    }
  }
  return Any;
}
