// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See rcache/NearbyReads.h. An array has rows of Pitch elements of which the first
// Row are used. Without the others element e is e - e / Pitch * (Pitch - Row), and
// no two that are used become one. Rows of arrays with several dimensions are
// declared shorter instead.

#include "Affine/IslTools.h"
#include "ArrayText.h"
#include "Assumptions.h"
#include "BodyText.h"
#include "Counters.h"
#include "placements/OwnedFetches.h"
#include "rcache/NearbyReads.h"
#include "rcache/ThreadsInLine.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

namespace {

class Writer {
public:
  explicit Writer(const KernelModel &M)
      : M(M), A(makeAssumptions(M, M.Geo.ConstBlock, 1)), Count(M, A) {}

  std::optional<OtherBody> run() {
    for (unsigned Array = 0; Array < M.Arrays.size(); ++Array)
      if (!write(Array))
        return std::nullopt;
    auto R = Edits.body();
    if (R)
      R->OnlyOwned = true;
    return R;
  }

private:
  const KernelModel &M;
  const Assumptions A;
  const Counters Count;
  BodyText Edits{M};

  /// Is the last index of all accesses in the first \p Row of each \p Pitch?
  bool isInRows(unsigned Array, int64_t Pitch, int64_t Row) const {
    const isl::ctx Ctx = M.Ctx->ctx();
    return llvm::all_of(M.SharedAccesses, [&](const SharedAccess &S) {
      if (S.Array != Array)
        return true;
      M.Ctx->resetBudget();
      const auto &Visits = Count.at(S.Stmt);
      if (S.Domain.is_null() || S.IndexValues.empty() || !S.IndexValues.back() ||
          Visits.empty())
        return false;
      return llvm::all_of(Visits, [&](const Counters::Values &V) {
        const auto I = formulaOf(M, A, *S.IndexValues.back(), V);
        if (I.is_null())
          return false;
        const isl::set Runs =
            at(M, A, A.fix(S.Domain).intersect(A.Context), V);
        const isl::set Used =
            S.IndexValues.size() > 1
                ? inRange(I, constantValue(Ctx, 0), constantValue(Ctx, Row))
                : lessEqual(constantValue(Ctx, 0), I)
                      .intersect(lessThan(floorMod(I, Pitch),
                                          constantValue(Ctx, Row)));
        return Runs.is_subset(Used);
      });
    });
  }

  /// False: the array is padded, and cannot be written without.
  bool write(unsigned Array) {
    const SharedArray &Arr = M.Arrays[Array];
    if (Arr.Volatile || Arr.AtFileScope || Arr.Extents.empty())
      return true;
    if (Arr.Extents.size() == 1) {
      for (const int64_t Row : {32, 16})
        if (isInRows(Array, Row + 1, Row))
          return writeIndices(Array, Row + 1);
      return true;
    }
    const int64_t Pitch = Arr.Extents.back().value_or(0);
    for (const int64_t Pad : {1, 2})
      if (Pitch > 4 + Pad && (Pitch - Pad) % 4 == 0 &&
          isInRows(Array, Pitch, Pitch - Pad))
        return declare(Array, Pitch - Pad);
    return true;
  }

  bool writeIndices(unsigned Array, int64_t Pitch) {
    // (Less than a row: nothing pads it.)
    if (const auto &Of = M.Arrays[Array].Extents[0]; Of && *Of <= Pitch)
      return true;
    return isNamedByAccesses(M, Array) &&
           llvm::all_of(M.SharedAccesses, [&](const SharedAccess &S) {
             if (S.Array != Array)
               return true;
             const auto Index = indexTexts(M, S);
             if (!Index)
               return false;
             const std::string T = "(" + M.text(Index->front()) + ")";
             return Edits.replace(Index->front(), T + " - " + T + " / " +
                                                      std::to_string(Pitch));
           });
  }

  bool declare(unsigned Array, int64_t Row) {
    const SharedArray &Arr = M.Arrays[Array];
    const std::string Text = M.text(Arr.DeclaratorRange);
    const size_t Close = Text.rfind(']'), Open = Text.rfind('[');
    if (!isNamedByAccesses(M, Array) || Close == std::string::npos ||
        Open == std::string::npos || Open > Close)
      return false;
    const auto Begin = Arr.DeclaratorRange.Begin;
    return Edits.replace({Begin + static_cast<unsigned>(Open) + 1,
                          Begin + static_cast<unsigned>(Close)},
                         std::to_string(Row));
  }
};

} // namespace

std::optional<OtherBody> rcache::withoutPadding(const KernelModel &M) {
  if (!M.Geo.ConstBlock || !exchangesComputed(M))
    return std::nullopt;
  M.Ctx->resetBudget();
  auto Result = guarded([&] { return Writer(M).run(); });
  if (Result)
    return std::move(*Result);
  llvm::consumeError(Result.takeError());
  return std::nullopt;
}
