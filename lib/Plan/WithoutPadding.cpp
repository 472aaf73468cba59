// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See rcache/NearbyReads.h. An array has rows of Pitch elements of which the
// first Row are used. Without the others element e is e - e / Pitch * (Pitch -
// Row), and no two that are used become one. Such rows may be padded again, `i
// + (i >> 4) + (i >> 8)`: rows of 16 * 17 elements and one that is not used.
// Rows of arrays with several dimensions are declared shorter instead.
//
// Nothing is known of the padding but which elements it leaves: all accesses of
// the array are asked, for all threads and rounds, and one that nothing is
// known of, or that names an element behind a row, leaves the array as it is.

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

class PaddingWriter {
public:
  explicit PaddingWriter(const KernelModel &M)
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

  /// Which elements stay.
  struct Rows {
    int64_t Pitch, Row;
    int64_t Outer = 0; ///< of as many elements the last one is left out, too
  };

  /// Is index \p I, of an array with one dimension, of an element that stays?
  isl::set stays(const isl::pw_aff &I, const Rows &R) const {
    const isl::ctx Ctx = M.Ctx->ctx();
    const isl::pw_aff In = R.Outer ? floorMod(I, R.Outer) : I;
    const isl::set All = lessEqual(constantValue(Ctx, 0), I)
                             .intersect(lessThan(floorMod(In, R.Pitch),
                                                 constantValue(Ctx, R.Row)));
    return R.Outer
               ? All.intersect(lessThan(In, constantValue(Ctx, R.Outer - 1)))
               : All;
  }

  /// Is the last index of all accesses of one that stays? \p InAll: in threads
  /// that do not run them as well.
  bool isInRows(unsigned Array, const Rows &Of, bool InAll = false) const {
    const isl::ctx Ctx = M.Ctx->ctx();
    return llvm::all_of(M.SharedAccesses, [&](const SharedAccess &S) {
      if (S.Array != Array)
        return true;
      M.Ctx->resetBudget();
      const auto &Visits = Count.at(S.Stmt);
      if (S.Domain.is_null() || S.IndexValues.empty() ||
          !S.IndexValues.back() || Visits.empty())
        return false;
      return llvm::all_of(Visits, [&](const Counters::Values &V) {
        const auto I = formulaOf(M, A, *S.IndexValues.back(), V);
        if (I.is_null())
          return false;
        const isl::set Runs = at(
            M, A, InAll ? A.Context : A.fix(S.Domain).intersect(A.Context), V);
        return Runs.is_subset(
            S.IndexValues.size() > 1
                ? inRange(I, constantValue(Ctx, 0), constantValue(Ctx, Of.Row))
                : stays(I, Of));
      });
    });
  }

  /// False: the array is padded, and cannot be written without.
  bool write(unsigned Array) {
    const SharedArray &Arr = M.Arrays[Array];
    if (Arr.Volatile || Arr.AtFileScope || Arr.Extents.empty())
      return true;
    if (Arr.Extents.size() == 1) {
      // Rather rows that numbers of all threads are in, as steps from thread to
      // thread are formulas of counters then.
      for (const bool InAll : {true, false})
        for (const Rows R :
             {Rows{33, 32}, Rows{17, 16}, Rows{33, 32, 33 * 32 + 1},
              Rows{17, 16, 17 * 16 + 1}})
          if (isInRows(Array, R, InAll))
            return writeIndices(Array, R);
      return true;
    }
    const int64_t Pitch = Arr.Extents.back().value_or(0);
    for (const int64_t Pad : {1, 2})
      if (Pitch > 4 + Pad && (Pitch - Pad) % 4 == 0 &&
          isInRows(Array, {Pitch, Pitch - Pad}))
        return declare(Array, Pitch - Pad);
    return true;
  }

  bool writeIndices(unsigned Array, const Rows &R) {
    // (Less than a row: nothing pads it.)
    if (const auto &Of = M.Arrays[Array].Extents[0]; Of && *Of <= R.Pitch)
      return true;
    return isNamedByAccesses(M, Array) &&
           llvm::all_of(M.SharedAccesses, [&](const SharedAccess &S) {
             if (S.Array != Array)
               return true;
             const auto Index = indexTexts(M, S);
             return Index &&
                    Edits.replace(
                        Index->front(),
                        element("(" + M.text(Index->front()) + ")", R));
           });
  }

  /// The number of element \p Padded without those that are left out.
  static std::string element(const std::string &Padded, const Rows &R) {
    const std::string By = " / " + std::to_string(R.Pitch);
    if (!R.Outer)
      return Padded + " - " + Padded + By;
    // Of each Outer elements, as many as a row has stay fewer.
    const std::string Outer = std::to_string(R.Outer);
    return Padded + " - " + Padded + " / " + Outer + " * " +
           std::to_string((R.Outer - 1) / R.Pitch + 1) + " - " + Padded +
           " % " + Outer + By;
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
  auto Result = guarded([&] { return PaddingWriter(M).run(); });
  if (Result)
    return std::move(*Result);
  llvm::consumeError(Result.takeError());
  return std::nullopt;
}
