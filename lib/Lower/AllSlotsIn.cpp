// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See AllSlotsIn.h.

#include "AllSlotsIn.h"
#include "Affine/IslTools.h"
#include "Plan/Assumptions.h"
#include "ValueText.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

namespace {

class Finder {
public:
  Finder(const Queries &Q, const Division &D, const Region &R)
      : Q(Q), M(Q.M), P(Q.P), D(D), R(R),
        A(makeAssumptions(M, P.Map.Block, P.Map.BlockMultiple)) {}

  std::optional<AllSlotsIn> run(const Names &N) {
    constexpr double LeastSlots = 4;
    if (P.slots() < LeastSlots || !P.Map.Block || R.Speculative || R.StoresLate ||
        llvm::none_of(P.Arrays, [](const ArrayPlan &Of) { return Of.as<Owned>(); }) ||
        !isPlain())
      return std::nullopt;
    isl::set When = A.Context;
    for (const Selection &C : M.Selections)
      if (inSlots(C.Range) && loads(C.First) && !take(C.When, When, C.Range, C.First, C.Type))
        return std::nullopt;
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::If && inSlots(S.Range) && loads(M.stmt(S.Children[0]).Range) &&
          !take(S.Cond, When, S.Range, M.stmt(S.Children[0]).Range, ""))
        return std::nullopt;
    if (Found.Without.empty())
      return std::nullopt;
    const isl::set Test = simplify(When, A.Context);
    if (Test.n_basic_set() != 1 || Test.is_empty() || !isOfBlock(Test))
      return std::nullopt;
    ValueTextOptions O;
    O.Symbols = N.symbols();
    O.Context = P.Context;
    auto Text = conditionText(Test, N, O);
    if (!Text) {
      llvm::consumeError(Text.takeError());
      return std::nullopt;
    }
    Found.Test = std::move(*Text);
    return std::move(Found);
  }

private:
  const Queries &Q;
  const KernelModel &M;
  const Plan &P;
  const Division &D;
  const Region &R;
  const Assumptions A;
  AllSlotsIn Found;

  bool inSlots(TextRange T) const {
    return llvm::any_of(R.Slot, [&](unsigned C) {
             return M.stmt(C).Range.contains(T) && !D.Dead.count(C);
           }) && !D.inDead(T, Q);
  }

  bool loads(TextRange T) const {
    return llvm::any_of(M.GlobalAccesses, [&](const GlobalAccess &G) {
      return G.K == GlobalAccess::Read && !G.Volatile && T.contains(G.Range);
    });
  }

  /// Does nothing in R add up, jump, or have a text that others change?
  bool isPlain() const {
    const auto In = [&](TextRange T) {
      return llvm::any_of(R.Slot, [&](unsigned C) { return M.stmt(C).Range.contains(T); });
    };
    return llvm::none_of(M.Stmts, [&](const Stmt &S) {
             return In(S.Range) &&
                    (S.isLoop() || S.K == Stmt::Switch || S.K == Stmt::Return || S.HasCall ||
                     !S.LeftOut.empty() || S.Computes.Fp > 0 || S.Computes.Double > 0);
           }) &&
           llvm::none_of(P.VectorReads,
                         [&](auto &V) { return In(M.GlobalAccesses[V.Access].Range); }) &&
           llvm::none_of(P.VectorStores,
                         [&](auto &V) { return In(M.GlobalAccesses[V.Access].Range); });
  }

  /// Adds to \p When that \p Cond holds for all threads of the block; the text of \p Whole
  /// goes but for that of \p First.
  bool take(const Nullable<isl::set> &Cond, isl::set &When, TextRange Whole, TextRange First,
            const std::string &Type) {
    // (What would go with it may count: `i < n ? in[i] : ++left`, an `else`.)
    if (Cond.is_null() || llvm::any_of(M.Effects, [&](const Effect &E) {
          return Whole.contains(E.Range) && !First.contains(E.Range);
        }))
      return false;
    When = When.subtract(projectOut(A.Context.subtract(A.fix(Cond)), {"tx", "ty", "tz"}));
    Found.Without.push_back(
        {{Whole.Begin, First.Begin}, Type.empty() ? "" : "(" + Type + ")("});
    Found.Without.push_back({{First.End, Whole.End}, Type.empty() ? "" : ")"});
    return true;
  }

  /// Is it the same for a block, and said anywhere in it?
  bool isOfBlock(const isl::set &Test) const {
    return llvm::all_of(involvedIds(Test), [&](const std::string &Id) {
      const int I = M.symbolIndex(Id);
      if (I < 0)
        return false;
      const Symbol &S = M.Symbols[static_cast<size_t>(I)];
      return (S.K != Symbol::Opaque && S.K != Symbol::Iterator && S.K != Symbol::ThreadIdx) ||
             (S.Anywhere && !(S.Depends & (DepThread | DepShared | DepGlobal)));
    });
  }
};

} // namespace

std::optional<AllSlotsIn> rcache::allSlotsIn(const StatementText &Text, const Names &N,
                                             const Division &D, const Region &R) {
  auto Result = guarded([&] { return Finder(Text.queries(), D, R).run(N); });
  if (Result)
    return std::move(*Result);
  llvm::consumeError(Result.takeError());
  return std::nullopt;
}
