// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See rcache/OwnRounds.h. The counter has the same values in each thread, in the
// same order.

#include "rcache/OwnRounds.h"
#include "BodyText.h"
#include "Assumptions.h"
#include "Affine/IslTools.h"
#include "SpreadLoops.h"
#include "rcache/ThreadsInLine.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

namespace {

/// Rounds whose loads are worth being on the way at the same time.
constexpr int64_t MostRounds = 8;

class Writer {
public:
  explicit Writer(const KernelModel &M)
      : M(M), Fixed(makeAssumptions(M, M.Geo.ConstBlock, 1)),
        Threads((*M.Geo.ConstBlock)[0]) {
    while (M.Text.find(Round) != std::string::npos)
      Round += '_';
  }

  std::optional<OtherBody> run() {
    for (const Stmt &S : M.Stmts)
      if (isShared(S) && !write(S))
        return std::nullopt;
    auto R = Edits.body();
    if (R)
      R->OnlyOwned = true;
    return R;
  }

private:
  const KernelModel &M;
  const Assumptions Fixed;
  const int64_t Threads;
  BodyText Edits{M};
  std::string Round = "own_round";

  /// A loop over memory that all threads of the block share, its counter its own.
  bool isShared(const Stmt &S) const {
    if (S.K != Stmt::For || !S.Cooperative || S.ConstTripCount ||
        S.CooperativeAxes != DepThreadX || S.HasBarrier || S.HasReturn ||
        !(S.HasGlobalRead || S.HasGlobalWrite) || S.IterVar < 0 ||
        S.CondRange.empty() || S.Children.size() != 1)
      return false;
    const Var &I = M.Vars[static_cast<size_t>(S.IterVar)];
    return I.DeclStmt == S.Id && I.OnlyDeclarator && !I.AddressTaken &&
           !I.IsReference && M.countsItself(S);
  }

  bool write(const Stmt &S) {
    const Var &I = M.Vars[static_cast<size_t>(S.IterVar)];
    const auto Values = sharedOutValues(M, Fixed, S);
    if (!Values)
      return false;
    const int64_t Rounds = (Values->Count + Threads - 1) / Threads;
    if (Rounds > MostRounds)
      return false;
    // All that the bounds allow, whatever else they hang on?
    const bool All = Values->Count == Rounds * Threads &&
                     involvedIds(Fixed.fix(S.IterDomain)).size() == 1;
    const std::string T = std::to_string(Threads);
    return Edits.replace(S.HeaderRange,
                         Edits.newLines(S.HeaderRange) + "for (int " + Round +
                             " = 0; " + Round + " < " + std::to_string(Rounds) +
                             "; ++" + Round + ") { const " + I.Type + " " +
                             I.Name + " = " + std::to_string(Values->First) +
                             " + (int)threadIdx.x + " + T + " * " + Round +
                             "; " +
                             (All ? "" : "if (" + M.text(S.CondRange) + ") ")) &&
           Edits.insert({S.Range.End, S.Range.End}, " }");
  }
};

} // namespace

std::optional<OtherBody> rcache::ownRounds(const KernelModel &M) {
  if (!M.Geo.ConstBlock || (*M.Geo.ConstBlock)[1] != 1 ||
      (*M.Geo.ConstBlock)[2] != 1 || !exchangesComputed(M))
    return std::nullopt;
  M.Ctx->resetBudget();
  auto Result = guarded([&] { return Writer(M).run(); });
  if (Result)
    return std::move(*Result);
  llvm::consumeError(Result.takeError());
  return std::nullopt;
}
