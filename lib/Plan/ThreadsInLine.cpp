// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See rcache/ThreadsInLine.h. Every name of a thread's coordinates or of the
// block's extents is replaced, so that each thread computes what it computed
// before; their order in warps is the same, as the device counts along x first.

#include "rcache/ThreadsInLine.h"
#include "Affine/IslTools.h"
#include "ArrayText.h"
#include "BodyText.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

bool rcache::exchangesComputed(const KernelModel &M) {
  return llvm::any_of(M.SharedAccesses, [](const SharedAccess &S) {
    return S.K == SharedAccess::ReadWrite ||
           (S.K == SharedAccess::Write &&
            (!S.Stored || (S.Stored->Depends & DepShared)));
  });
}

/// `threadIdx.y` as the new text says it, in blocks of \p Block.
static std::string coordinate(const std::array<int64_t, 3> &Block,
                              unsigned Axis) {
  if (Block[Axis] == 1)
    return "0u";
  std::string T = "threadIdx.x";
  int64_t Step = 1;
  for (unsigned A = 0; A < Axis; ++A)
    Step *= Block[A];
  if (Step > 1)
    T += " / " + std::to_string(Step) + "u";
  if (Step * Block[Axis] < Block[0] * Block[1] * Block[2])
    T += " % " + std::to_string(Block[Axis]) + "u";
  return "(" + T + ")";
}

/// The body with coordinates of threads as \p Coordinate says them, and with the
/// block's extents as numbers.
static std::optional<std::string>
written(const KernelModel &M, llvm::function_ref<std::string(unsigned)> Coordinate) {
  BodyText Edits(M);
  for (const BuiltinUse &U : M.Builtins) {
    if (U.K != Symbol::ThreadIdx && U.K != Symbol::BlockDim)
      continue;
    if (!Edits.insert(U.Range, U.K == Symbol::ThreadIdx
                                   ? Coordinate(U.Axis)
                                   : std::to_string((*M.Geo.ConstBlock)[U.Axis]) + "u"))
      return std::nullopt;
  }
  return Edits.written();
}

std::optional<OtherBody> rcache::threadsInLine(const KernelModel &M) {
  if (!M.Geo.ConstBlock || M.Form.scaled() || !exchangesComputed(M))
    return std::nullopt;
  const std::array<int64_t, 3> &Block = *M.Geo.ConstBlock;
  const int64_t Threads = Block[0] * Block[1] * Block[2];
  if (Threads == Block[0] || Threads % 32 != 0 || Threads > 1024 ||
      !namesCoordinatesAlone(M))
    return std::nullopt;
  auto Text = written(M, [&](unsigned Axis) { return coordinate(Block, Axis); });
  if (!Text)
    return std::nullopt;
  OtherBody R;
  R.Text = std::move(*Text);
  R.Form = M.Form;
  // Along an axis of one thread there is nothing to divide by.
  R.Form.Scale = {Threads / Block[0], Block[1] > 1 ? -Block[1] : 1,
                  Block[2] > 1 ? -Block[2] : 1};
  R.OnlyOwned = true;
  R.Note = "the block's " + std::to_string(Threads) +
           " threads are planned in a line, as they are numbered";
  return R;
}

/// Are all indices of shared arrays sums, as far as they hang on the thread's number,
/// with \p By for it where \p In holds?
static bool indicesAreSums(const KernelModel &M, const Substitution &By, const isl::set &In) {
  return llvm::all_of(M.SharedAccesses, [&](const SharedAccess &S) {
    return S.Affine && llvm::all_of(S.Index, [&](const isl::pw_aff &V) {
      return !dependsOn(V, "tx") || linearForm(By.empty() ? V : substitute(V, By), In).has_value();
    });
  });
}

/// Is there an index, with \p By for the thread's number where \p In holds, that hangs on
/// the coordinate \p On alone, not on \p Not?
static bool isNamedAlone(const KernelModel &M, const Substitution &By, const isl::set &In,
                         const char *On, const char *Not) {
  return llvm::any_of(M.SharedAccesses, [&](const SharedAccess &S) {
    return llvm::any_of(S.Index, [&](const isl::pw_aff &V) {
      const auto L = linearForm(substitute(V, By), In);
      return L && L->Terms.count(On) && !L->Terms.count(Not);
    });
  });
}

std::optional<OtherBody> rcache::threadsInRows(const KernelModel &M) {
  if (!M.Geo.ConstBlock || M.Form.scaled() || exchangesComputed(M) || M.SharedAccesses.empty())
    return std::nullopt;
  const std::array<int64_t, 3> &Block = *M.Geo.ConstBlock;
  const int64_t Threads = Block[0];
  if (Block[1] != 1 || Block[2] != 1 || Threads > 1024 || !namesCoordinatesAlone(M))
    return std::nullopt;
  isl::ctx Ctx = M.Ctx->ctx();
  const isl::pw_aff X = symbolValue(Ctx, "tx"), Y = symbolValue(Ctx, "ty");
  const auto Below = [&](const isl::pw_aff &V, int64_t End) {
    return V.ge_set(constantValue(Ctx, 0)).intersect(V.lt_set(constantValue(Ctx, End)));
  };
  if (indicesAreSums(M, {}, Below(X, Threads)))
    return std::nullopt;
  constexpr int64_t Least = 4; // of a row, and of a column
  for (int64_t Row = Least; Row * Least <= Threads; ++Row) {
    if (Threads % Row != 0)
      continue;
    const Substitution By = {{"tx", Y.scale(static_cast<long>(Row)).add(X)}};
    const isl::set In = Below(X, Row).intersect(Below(Y, Threads / Row));
    if (!indicesAreSums(M, By, In) || !isNamedAlone(M, By, In, "tx", "ty") ||
        !isNamedAlone(M, By, In, "ty", "tx"))
      continue;
    const std::string Number = "(threadIdx.y * " + std::to_string(Row) + "u + threadIdx.x)";
    auto Text = written(M, [&](unsigned Axis) { return Axis == 0 ? Number : "0u"; });
    if (!Text)
      return std::nullopt;
    OtherBody R;
    R.Text = std::move(*Text);
    R.Form = M.Form;
    R.Form.Scale = {-(Threads / Row), Threads / Row, 1};
    R.Form.OriginalClocks = 0; // which rows tell better
    R.Note = "the block's " + std::to_string(Threads) + " threads are planned in rows of " +
             std::to_string(Row) + ", as they compute their coordinates";
    return R;
  }
  return std::nullopt;
}
