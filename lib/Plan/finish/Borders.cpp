// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Finish.h.

#include "../Assumptions.h"
#include "../Facts.h"
#include "../Values.h"
#include "Affine/IslTools.h"
#include "Finish.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace rcache;

namespace {

/// The lines of one array, whose coordinates are asked whether they lie behind the last
/// element of so many, and asked other things (in front of the first).
class Lines {
public:
  explicit Lines(const KernelModel &M) : M(M) {}

  void add(const isl::set &Domain) {
    ++Pieces;
    for (const Linear &Sum : constraintSums(Domain)) {
      std::set<std::string> Coordinates, Extents;
      for (const auto &[Id, Coef] : Sum.Terms)
        (isParam(Id) ? Extents : Coordinates).insert(Id);
      if (Extents.empty())
        Asked.merge(Coordinates);
      else if (Extents.size() == 1 && std::abs(Sum.Terms.at(*Extents.begin())) == 1)
        Ends[*Extents.begin()].merge(Coordinates);
    }
  }

  /// Where elements are repeated: several pieces load, each elsewhere.
  std::set<std::string> extents() const {
    std::set<std::string> All;
    if (Pieces < 2)
      return All;
    for (const auto &[Extent, Coordinates] : Ends)
      if (llvm::any_of(Coordinates, [&](const std::string &C) { return Asked.count(C); }))
        All.insert(Extent);
    return All;
  }

private:
  const KernelModel &M;
  unsigned Pieces = 0;
  std::set<std::string> Asked;
  std::map<std::string, std::set<std::string>> Ends;

  bool isParam(const std::string &Id) const {
    const int I = M.symbolIndex(Id);
    return I >= 0 && M.Symbols[static_cast<size_t>(I)].K == Symbol::Param;
  }
};

} // namespace

/// A line shorter than the halo is mirrored or repeated several times over: such images
/// are the original's, up to this extent.
static constexpr int64_t LongestLeft = 64;

/// The least extent \p Id for which no piece of \p A is there for short lines alone.
static int64_t leastOf(const std::string &Id, const ArrayPlan &A,
                       const isl::set &Context) {
  const isl::pw_aff Extent = symbolValue(Context.ctx(), Id);
  int64_t Least = 1;
  for (const StagePiece &Piece : A.Stage.Pieces) {
    const isl::set Met = isl::set(Piece.Domain).intersect(Context);
    if (Met.is_empty())
      continue;
    if (const auto Most = maxConst(Extent, Met); Most && *Most <= LongestLeft)
      Least = std::max(Least, *Most + 1);
  }
  return Least;
}

void rcache::askForElements(BlockFacts &F, const Assumptions &Known, Plan &P) {
  const KernelModel &M = F.M;
  std::map<std::string, int64_t> Asked;
  for (const ArrayPlan &A : P.Arrays) {
    Lines Of(M);
    for (const StagePiece &Piece : A.Stage.Pieces)
      if (holdsLoad(*Piece.V)) // else a number stands for what is outside
        Of.add(Piece.Domain);
    for (const std::string &Id : Of.extents()) {
      int64_t &Least = Asked[Id];
      Least = std::max(Least, leastOf(Id, A, P.Context));
    }
  }
  for (const auto &[Id, Least] : Asked) {
    const isl::ctx Ctx = M.Ctx->ctx();
    const isl::set Long = symbolValue(Ctx, Id).ge_set(constantValue(Ctx, Least));
    if (P.Context.is_subset(Long))
      continue;
    P.Context = P.Context.intersect(Long);
    P.Preconditions.push_back(
        {M.Symbols[static_cast<size_t>(M.symbolIndex(Id))].Text + " >= " +
             std::to_string(Least),
         "a line whose ends are repeated or mirrored is longer than that"});
  }
  for (ArrayPlan &A : P.Arrays)
    if (A.Stage.Pieces.size() > StagingFunction::ManyPieces)
      A.Stage.OneForm = F.isOneForm(A.Stage, Known.Context.intersect(P.Context));
}
