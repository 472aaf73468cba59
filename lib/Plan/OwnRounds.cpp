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
#include <map>

using namespace rcache;

namespace {

/// Rounds whose loads are worth being on the way at the same time.
constexpr int64_t MostRounds = 8;
/// The same where a launch tells how many there are.
constexpr int64_t RoundsAsked = 2;

/// What launches are asked for the sake of few rounds.
class AskedBounds {
public:
  explicit AskedBounds(const KernelModel &M) : M(M) {}

  /// False: all launches pass more.
  bool take(const LoopBound &B) {
    if (never(B))
      return false;
    auto [At, New] = AtMost.try_emplace(B.Name, B.AtMost);
    At->second = std::min(At->second, B.AtMost);
    return true;
  }
  bool empty() const { return AtMost.empty(); }
  void tell(OtherBody &R) const {
    for (const auto &[Name, Value] : AtMost) {
      R.Form.AtMost.push_back({Name, Value});
      R.Note += (R.Note.empty() ? "launches that pass " : " and ") + Name +
                " <= " + std::to_string(Value);
    }
    if (!AtMost.empty())
      R.Note += " run the rewritten kernel";
  }

private:
  const KernelModel &M;
  std::map<std::string, int64_t> AtMost; ///< of parameters

  bool never(const LoopBound &B) const {
    return !M.Launches.empty() && llvm::all_of(M.Launches, [&](const LaunchSite &L) {
      return passedAbove(M, L, B.Name, B.AtMost).has_value();
    });
  }
};

/// Is memory read there again and again, as often as the loop's bounds say?
bool walksThroughMemory(const Stmt &S) {
  return S.K == Stmt::For && !S.ConstTripCount && !S.HasBarrier && S.HasGlobalRead;
}

class OwnRoundsWriter {
public:
  explicit OwnRoundsWriter(const KernelModel &M)
      : M(M), Fixed(makeAssumptions(M, M.Geo.ConstBlock, 1)),
        Threads((*M.Geo.ConstBlock)[0]) {
    Round = M.freshName(Round);
  }

  std::optional<OtherBody> run() {
    for (const Stmt &S : M.Stmts)
      if (isShared(S) && !write(S))
        return std::nullopt;
    auto R = Edits.body();
    if (!R)
      return R;
    R->OnlyOwned = true;
    Asked.tell(*R);
    return R;
  }

private:
  const KernelModel &M;
  const Assumptions Fixed;
  const int64_t Threads;
  BodyText Edits{M};
  AskedBounds Asked{M};
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

  /// What \p I begins with, in its own words; "": they may mean something else later.
  std::string beginOf(const Var &I) const {
    const auto Within = [&](const auto &X) { return I.InitRange.contains(X.Range); };
    if (I.InitRange.empty() || llvm::any_of(M.SharedAccesses, Within) ||
        llvm::any_of(M.GlobalAccesses, Within) || llvm::any_of(M.Effects, Within) ||
        llvm::any_of(M.VarUses, [&](const VarUse &U) {
          return Within(U) && (U.Write || M.Vars[U.Var].Assigned);
        }))
      return "";
    return "(" + M.text(I.InitRange) + ")";
  }

  /// The \p Values of the counter for which the elements that each round uses lie in their
  /// arrays: a loop up to an argument ends there at the latest.
  isl::set withinArrays(const Stmt &S, isl::set Values) const {
    if (llvm::any_of(M.Stmts, [&](const Stmt &In) { // a round that is left uses none, perhaps
          return (In.K == Stmt::Break || In.K == Stmt::Continue) && S.Range.contains(In.Range);
        }))
      return Values;
    for (const SharedAccess &X : M.SharedAccesses) {
      const SharedArray &Of = M.Arrays[X.Array];
      if (!S.Range.contains(X.Range) || !X.Affine || X.Domain.is_null() ||
          X.Index.size() != 1 || Of.Extents.size() != 1 || !Of.Extents[0] ||
          !Values.is_subset(Fixed.fix(X.Domain)))
        continue;
      const isl::ctx Ctx = M.Ctx->ctx();
      Values = Values.intersect(inRange(Fixed.fix(X.Index[0]), constantValue(Ctx, 0),
                                        constantValue(Ctx, long(*Of.Extents[0]))));
    }
    return Values;
  }

  bool write(const Stmt &S) {
    const Var &I = M.Vars[static_cast<size_t>(S.IterVar)];
    const Nullable<isl::pw_aff> Passed = passedIn(M, Fixed, S);
    if (Passed.is_null())
      return false;
    const isl::set Domain = Fixed.fix(S.IterDomain);
    const isl::set Values = withinArrays(S, Domain.intersect(Fixed.Context));
    const isl::pw_aff Counter =
        symbolValue(M.Ctx->ctx(), M.Symbols[size_t(S.IterSymbol)].Id);
    const auto First = constantUnder(Counter.sub(Passed), Values);
    const std::string Begin =
        First ? std::to_string(*First) + " + (int)threadIdx.x" : beginOf(I);
    if (Begin.empty())
      return false;
    int64_t Rounds = RoundsAsked;
    const auto Most = maxConst(Passed, Values);
    if (Most) {
      Rounds = *Most / Threads + 1;
      if (*Most < 0 || Rounds > MostRounds)
        return false;
    } else {
      const auto Bound = boundOfRounds(M, Fixed, S, Threads, Rounds);
      if (!Bound || !Asked.take(*Bound))
        return false;
    }
    // All that the bounds allow, whatever else they hang on?
    const bool All =
        First && Most && *Most + 1 == Rounds * Threads && involvedIds(Domain).size() == 1;
    const std::string T = std::to_string(Threads);
    return Edits.replace(S.HeaderRange,
                         Edits.newLines(S.HeaderRange) + "for (int " + Round +
                             " = 0; " + Round + " < " + std::to_string(Rounds) +
                             "; ++" + Round + ") { const " + I.Type + " " +
                             I.Name + " = " + Begin + " + " + T + " * " + Round +
                             "; " +
                             (All ? "" : "if (" + M.text(S.CondRange) + ") ")) &&
           Edits.insert({S.Range.End, S.Range.End}, " }");
  }
};

} // namespace

/// One-dimensional blocks of known size, whose shared elements are made of their own.
static bool mayOwn(const KernelModel &M) {
  return M.Geo.ConstBlock && (*M.Geo.ConstBlock)[1] == 1 && (*M.Geo.ConstBlock)[2] == 1 &&
         exchangesComputed(M);
}

static std::optional<OtherBody> attempt(const KernelModel &M,
                                        std::optional<OtherBody> (*Make)(const KernelModel &)) {
  if (!mayOwn(M))
    return std::nullopt;
  M.Ctx->resetBudget();
  auto Result = guarded([&] { return Make(M); });
  if (Result)
    return std::move(*Result);
  llvm::consumeError(Result.takeError());
  return std::nullopt;
}

std::optional<OtherBody> rcache::ownRounds(const KernelModel &M) {
  return attempt(M, [](const KernelModel &In) { return OwnRoundsWriter(In).run(); });
}

std::optional<OtherBody> rcache::fewRounds(const KernelModel &M) {
  if (!M.Form.AtMost.empty())
    return std::nullopt;
  return attempt(M, [](const KernelModel &In) -> std::optional<OtherBody> {
    const Assumptions Fixed = makeAssumptions(In, In.Geo.ConstBlock, 1);
    AskedBounds Asked(In);
    for (const Stmt &S : In.Stmts) {
      if (!walksThroughMemory(S))
        continue;
      const auto Bound = boundOfRounds(In, Fixed, S, (*In.Geo.ConstBlock)[0], RoundsAsked);
      if (!Bound || !Asked.take(*Bound))
        return std::nullopt;
    }
    if (Asked.empty())
      return std::nullopt;
    OtherBody R;
    R.Text = In.text(In.BodyRange);
    R.Form = In.Form;
    R.OnlyOwned = true;
    Asked.tell(R);
    return R;
  });
}

std::optional<int64_t> rcache::passedAbove(const KernelModel &M, const LaunchSite &L,
                                           const std::string &Name, int64_t Most) {
  const auto It =
      llvm::find_if(M.Params, [&](const KernelParam &P) { return P.Name == Name; });
  const auto P = size_t(It - M.Params.begin());
  if (It == M.Params.end() || P >= L.ArgValues.size() || L.ArgValues[P].empty())
    return std::nullopt;
  const int64_t Least = *llvm::min_element(L.ArgValues[P]);
  return Least > Most ? std::optional(Least) : std::nullopt;
}

bool rcache::hasFewRounds(const KernelModel &M, const Stmt &Loop) {
  if (M.Form.AtMost.empty() || !M.Geo.ConstBlock)
    return false;
  const auto Bound = boundOfRounds(M, makeAssumptions(M, M.Geo.ConstBlock, 1), Loop,
                                   (*M.Geo.ConstBlock)[0], RoundsAsked);
  return Bound && llvm::any_of(M.Form.AtMost, [&](const auto &Asked) {
    return Asked.first == Bound->Name && Asked.second <= Bound->AtMost;
  });
}
