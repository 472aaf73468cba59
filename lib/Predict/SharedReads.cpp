// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SharedReads.h.

#include "SharedReads.h"
#include "Affine/IslTools.h"
#include "BankConflicts.h"
#include "Plan/Counts.h"
#include "StagingCosts.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <array>

using namespace rcache;

namespace {

/// Index of \p S in elements of a row-major array, as what a thread coordinate
/// adds; nullopt: not affine, or not a constant factor (`ty * width`).
std::optional<int64_t> laneStep(const KernelModel &M, const SharedAccess &S,
                                unsigned Axis) {
  static const char *const Ids[2] = {"tx", "ty"};
  static const unsigned Bits[2] = {DepThreadX, DepThreadY};
  const char *const Id = Ids[Axis];
  const SharedArray &A = M.Arrays[S.Array];
  if (!S.Affine)
    return std::nullopt;
  int64_t Step = 0, Pitch = 1;
  for (size_t D = S.Index.size(); D-- > 0;) {
    for (const std::string &By : involvedIds(S.Index[D]))
      if (const int I = M.symbolIndex(By);
          I >= 0 && M.Symbols[size_t(I)].K == Symbol::Opaque &&
          (M.Symbols[size_t(I)].Depends & Bits[Axis]))
        return std::nullopt;
    auto C = linearCoefficient(S.Index[D], Id,
                               isl::set::universe(S.Index[D].domain().space()));
    if (!C)
      return std::nullopt;
    Step += *C * Pitch;
    Pitch *= D < A.Extents.size() ? A.Extents[D].value_or(1) : 1;
  }
  return Step;
}

/// What the indices of \p S hang on (Dependence bits); all of it where nobody knows.
unsigned indexDepends(const SharedAccess &S) {
  unsigned Depends = S.IndexValues.empty() ? ~0u : 0;
  for (const ValueRef &V : S.IndexValues)
    Depends |= V ? V->Depends : ~0u;
  return Depends;
}

/// What a warp's lanes ask for. \p Row: physical threads along x; \p DX, \p DY: what a
/// step of a physical thread adds.
std::vector<int64_t> evenLanes(int64_t Row, int64_t DX, int64_t DY) {
  std::vector<int64_t> Of;
  for (int64_t L = 0; L < 32; ++L)
    Of.push_back(L % Row * DX + L / Row * DY);
  return Of;
}

/// Wavefronts of one warp-wide access, from element to element.
double evenWavefronts(int64_t Row, int64_t DX, int64_t DY, unsigned Bytes) {
  return wavefronts(evenLanes(Row, DX, DY), Bytes);
}

/// Does an unrolled loop around \p S read one element after the other?
bool readsNeighbours(const KernelModel &M, const SharedAccess &S) {
  if (!S.Affine || S.Index.empty())
    return false;
  for (int Q = static_cast<int>(S.Stmt); Q >= 0; Q = M.stmt(Q).Parent) {
    const Stmt &L = M.stmt(static_cast<unsigned>(Q));
    if (L.HasBarrier)
      return false;
    if (L.K != Stmt::For || L.IterSymbol < 0)
      continue;
    const std::string &Id = M.Symbols[static_cast<size_t>(L.IterSymbol)].Id;
    const isl::pw_aff &Last = S.Index.back();
    auto C =
        linearCoefficient(Last, Id, isl::set::universe(Last.domain().space()));
    if (C && std::abs(*C) == 1)
      return L.ConstTripCount && *L.ConstTripCount % 4 == 0;
  }
  return false;
}

/// Was the same element read before, in the same block of statements and with
/// no write of shared memory between? Then it is still in a register.
bool readBefore(const KernelModel &M, const SharedAccess &S) {
  const Stmt &At = M.stmt(S.Stmt);
  for (const SharedAccess &Q : M.SharedAccesses) {
    if (Q.Range.Begin >= S.Range.Begin)
      return false;
    const Stmt &Before = M.stmt(Q.Stmt);
    if (Q.K != SharedAccess::Read || Q.Array != S.Array ||
        Before.Parent != At.Parent || M.text(Q.Range) != M.text(S.Range))
      continue;
    // Nothing that the index is made of, or that is read, changes between.
    bool Changed = false;
    for (const VarUse &U : M.VarUses)
      Changed |= U.Write && U.Range.Begin > Q.Range.End &&
                 U.Range.End < S.Range.Begin &&
                 M.text(S.Range).find(M.Vars[U.Var].Name) != std::string::npos;
    for (const SharedAccess &W : M.SharedAccesses)
      Changed |= W.K != SharedAccess::Read && W.Range.Begin > Q.Range.End &&
                 W.Range.End < S.Range.Begin;
    for (const Stmt &B : M.Stmts)
      Changed |= B.K == Stmt::Barrier && B.Range.Begin > Q.Range.End &&
                 B.Range.End < S.Range.Begin;
    if (!Changed)
      return true;
  }
  return false;
}

/// What a round of \p Loop adds to the element that \p S reads; nullopt: not affine.
std::optional<int64_t> roundStep(const KernelModel &M, const SharedAccess &S,
                                 const Stmt &Loop) {
  const std::string &Id = M.Symbols[static_cast<size_t>(Loop.IterSymbol)].Id;
  const SharedArray &A = M.Arrays[S.Array];
  int64_t Step = 0, Pitch = 1;
  for (size_t D = S.Index.size(); D-- > 0;) {
    auto C = linearCoefficient(S.Index[D], Id,
                               isl::set::universe(S.Index[D].domain().space()));
    if (!C || (D > 0 && (D >= A.Extents.size() || !A.Extents[D])))
      return std::nullopt;
    Step += *C * Pitch;
    Pitch *= D < A.Extents.size() ? A.Extents[D].value_or(1) : 1;
  }
  return Step;
}

/// The part of a thread's reads at \p S that are loads: a short loop that is unrolled, in
/// another one, reads elements that rounds of the outer loop have in registers.
///
///     for (int d = 0; d < 32; ++d)
///       for (int k = 0; k < 9; ++k)
///         sum[d] += abs(l[t + k] - r[t + k + d]);  // l: once; r: 12 of 36 in four rounds
///
/// (Instructions of an H200, docs/measurements/2026-11-29-h200-fresh-g.txt, stereo_bm_rows.)
double partLoaded(const KernelModel &M, const SharedAccess &S) {
  constexpr int64_t MostRounds = 16, Unrolled = 4;
  if (S.K != SharedAccess::Read || !S.Affine || M.Arrays[S.Array].Volatile)
    return 1;
  std::vector<const Stmt *> Loops;
  for (int Q = M.stmt(S.Stmt).Parent; Q >= 0 && Loops.size() < 2; Q = M.stmt(unsigned(Q)).Parent) {
    const Stmt &L = M.stmt(unsigned(Q));
    if (L.K == Stmt::Block)
      continue;
    if (L.K != Stmt::For || L.HasBarrier || L.IterSymbol < 0 || !L.ConstTripCount ||
        llvm::any_of(M.SharedAccesses, [&](const SharedAccess &W) {
          return W.K != SharedAccess::Read && L.Range.contains(W.Range);
        }))
      break;
    Loops.push_back(&L);
  }
  if (Loops.size() < 2 || *Loops[0]->ConstTripCount > MostRounds)
    return 1;
  const double Inner = double(*Loops[0]->ConstTripCount), Outer = double(*Loops[1]->ConstTripCount);
  const auto In = roundStep(M, S, *Loops[0]), Out = roundStep(M, S, *Loops[1]);
  if (!In || !Out || *In == 0 || Inner < 1 || Outer < 1)
    return 1;
  if (*Out == 0)
    return 1 / Outer;
  return std::abs(*In) == std::abs(*Out) && int64_t(Outer) % Unrolled == 0
             ? (Unrolled + Inner - 1) / (Unrolled * Inner)
             : 1;
}

} // namespace

double rcache::restagedReadCost(const KernelModel &M, const SharedAccess &S,
                                const Restaged &R, const Mapping &Map,
                                bool TapsOutside) {
  if (readBefore(M, S))
    return 0;
  static const char *const Ids[2] = {"tx", "ty"};
  // Words from the copies' begin, of the first slots of a warp's lanes.
  const auto Layout = R.layout(Map.Blocks);
  const unsigned Bytes = std::max(1u, M.Arrays[S.Array].ElemBytes);
  bool Vector = readsNeighbours(M, S);
  std::array<int64_t, 32> Words;
  const int64_t X = Map.warpLanesX();
  for (int64_t Lane = 0; Lane < 32; ++Lane) {
    int64_t Word = 0;
    for (const Restaged::Dimension &D : Layout) {
      int64_t At = 0;
      for (unsigned A = 0; A < 2; ++A) {
        const int64_t V = (A == 0 ? Map.lanes(1) == 1 ? Lane : Lane % X
                                  : Lane / X) *
                          Map.Group[A];
        const int64_t Threads = (*Map.Block)[A];
        if (D.K == Restaged::Dimension::OfBlock) {
          At += D.Index == A ? V / Threads : 0;
          continue;
        }
        const isl::pw_aff &I = S.Index[D.Index];
        const auto C = linearCoefficient(
            I, Ids[A], isl::set::universe(I.domain().space()));
        At += C.value_or(0) * (V % Threads);
        Vector |= C == 1 && Map.Group[A] > 1 && &D == &Layout.back();
      }
      Word = Word * (D.Extent + (&D == &Layout.back() ? R.Pad : 0)) + At;
    }
    Words[size_t(Lane)] = Word * Bytes / 4;
  }
  // Four neighbours come with one load, of 16 bytes at most.
  const unsigned Load = Vector ? std::min(16u, 4 * Bytes) : Bytes;
  return wavefrontsOfWords(Words, std::max(1u, Load / 4)) * Bytes / Load /
         sharingSlots(M, S, Map.Factor, TapsOutside);
}

bool rcache::stepsUnknown(const KernelModel &M, const SharedAccess &S) {
  const unsigned Depends = indexDepends(S);
  return ((Depends & DepThreadX) && !laneStep(M, S, 0)) ||
         ((Depends & DepThreadY) && !laneStep(M, S, 1));
}

double rcache::sharedReadCost(const KernelModel &M, const SharedAccess &S,
                              const std::array<int64_t, 3> &Block,
                              const Mapping &Map, bool TapsOutside) {
  if (readBefore(M, S))
    return 0;
  static const unsigned Bits[2] = {DepThreadX, DepThreadY};
  const SharedArray &A = M.Arrays[S.Array];
  const unsigned Depends = indexDepends(S);
  int64_t Step[2] = {1, 0};
  for (int Ax = 0; Ax < 2; ++Ax) {
    auto C = laneStep(M, S, unsigned(Ax));
    Step[Ax] = C ? *C * Map.laneStep(unsigned(Ax))
                 : (Depends & Bits[Ax] ? 1 : 0);
  }
  const int64_t Row = Map.threadsOf(Block)[0];
  // Members of a vector come with one load.
  const int64_t Lanes = S.Lanes;
  const bool Vector = Step[0] % Lanes == 0 && Step[1] % Lanes == 0;
  double Cost =
      Vector ? evenWavefronts(std::min<int64_t>(32, Row), Step[0] / Lanes,
                          Step[1] / Lanes,
                          std::max(1u, A.ElemBytes * unsigned(Lanes))) /
                   double(Lanes)
             : evenWavefronts(std::min<int64_t>(32, Row), Step[0], Step[1],
                          std::max(1u, A.ElemBytes));
  // Neighbours along an unrolled loop come with one load of 16 bytes. (Words of 8 that all
  // lanes read alike take as long: `nearest` of test/output/gains.cu, on an H200.)
  const int64_t Of16 = A.ElemBytes == 4 || A.ElemBytes == 8 ? 16 / A.ElemBytes : 0;
  const std::vector<int64_t> Words =
      evenLanes(std::min<int64_t>(32, Row), Step[0] * A.ElemBytes / 4, Step[1] * A.ElemBytes / 4);
  if (Lanes == 1 && Of16 && Step[0] % Of16 == 0 && Step[1] % Of16 == 0 &&
      readsNeighbours(M, S) && (A.ElemBytes == 4 || !llvm::all_equal(Words)))
    Cost = wavefrontsOfWords(Words, 4) / double(Of16);
  return Cost / sharingSlots(M, S, Map.Factor, TapsOutside);
}

double rcache::sharedReads(const KernelModel &M, const Staging &Fill,
                           const SharedAccess &S,
                           const std::array<int64_t, 3> &Block,
                           const Mapping &Map, bool TapsOutside) {
  const double Each = sharedReadCost(M, S, Block, Map, TapsOutside);
  if (Each > 0 && stepsUnknown(M, S))
    if (const auto Of = Fill.wavefronts(S))
      return *Of * (S.K == SharedAccess::ReadWrite ? 2 : 1) /
             sharingSlots(M, S, Map.Factor, TapsOutside);
  return Fill.executions(S.Stmt) * Each * (Each > 0 ? partLoaded(M, S) : 1);
}
