// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See rcache/WrittenRounds.h. The counter is a constant of each round's block, which
// declares what the loop's body did.

#include "rcache/WrittenRounds.h"
#include "BodyText.h"
#include "rcache/ThreadsInLine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace rcache;

namespace {

/// Rounds of a loop, and letters that its rounds may come to.
constexpr int64_t MostRounds = 8;
constexpr size_t MostText = 2000;

class Writer {
public:
  explicit Writer(const KernelModel &M) : M(M) {}

  std::optional<OtherBody> run() {
    for (const Stmt &S : M.Stmts)
      if (isOfFewRounds(S) && isInnermost(S) && !write(S))
        return std::nullopt;
    auto R = Edits.body();
    if (R)
      R->OnlyOwned = true;
    return R;
  }

private:
  const KernelModel &M;
  BodyText Edits{M};

  bool isOfFewRounds(const Stmt &S) const {
    if (S.K != Stmt::For || S.HasBarrier || S.HasReturn || !S.HasSharedAccess || !S.Step ||
        !S.ConstTripCount || !S.ConstFirst || *S.ConstTripCount < 1 ||
        *S.ConstTripCount > MostRounds || S.IterVar < 0 || S.Children.size() != 1 ||
        !M.countsItself(S) || !namesCounter(S))
      return false;
    const Var &I = M.Vars[static_cast<size_t>(S.IterVar)];
    const TextRange Body = M.stmt(S.Children[0]).Range;
    return I.DeclStmt == S.Id && I.OnlyDeclarator && !I.AddressTaken && !I.IsReference &&
           llvm::none_of(M.VarUses,
                         [&](const VarUse &U) {
                           return U.Write && static_cast<int>(U.Var) == S.IterVar &&
                                  Body.contains(U.Range);
                         }) &&
           llvm::none_of(M.Stmts,
                         [&](const Stmt &In) {
                           return (In.K == Stmt::Break || In.K == Stmt::Continue) &&
                                  Body.contains(In.Range);
                         }) &&
           llvm::none_of(M.Arrays,
                         [&](const SharedArray &A) { return Body.contains(A.DeclRange); });
  }

  /// Does the body name the counter?
  bool namesCounter(const Stmt &S) const {
    const TextRange Body = M.stmt(S.Children[0]).Range;
    return llvm::any_of(M.VarUses, [&](const VarUse &U) {
      return static_cast<int>(U.Var) == S.IterVar && Body.contains(U.Range);
    });
  }

  bool isInnermost(const Stmt &S) const {
    return llvm::none_of(M.Stmts, [&](const Stmt &In) {
      return In.Id != S.Id && S.Range.contains(In.Range) && isOfFewRounds(In);
    });
  }

  bool write(const Stmt &S) {
    const Var &I = M.Vars[static_cast<size_t>(S.IterVar)];
    std::string Body = M.text(M.stmt(S.Children[0]).Range);
    if (Body.find("//") != std::string::npos || Body.find('#') != std::string::npos ||
        Body.find('\\') != std::string::npos ||
        Body.size() * static_cast<size_t>(*S.ConstTripCount) > MostText)
      return false;
    // (The lines of what is replaced, all of them in the first round.)
    std::string Text;
    for (int64_t K = 0; K < *S.ConstTripCount; ++K) {
      const int64_t Value = *S.ConstFirst + K * *S.Step;
      Text += (K ? " { const " : "{ const ") + I.Type + " " + I.Name + " = " +
              std::to_string(Value) + "; " + Body + " }";
      if (K == 0)
        llvm::replace(Body, '\n', ' ');
    }
    return Edits.replace(S.Range, std::move(Text));
  }
};

} // namespace

std::optional<OtherBody> rcache::writtenRounds(const KernelModel &M) {
  // (What a sum is fused with may hang on the loops as they are.)
  if (!M.Geo.ConstBlock || !exchangesComputed(M) || M.FoldsWithArguments ||
      !M.ProductVars.empty() || !M.SummedProducts.empty() ||
      M.UnsettledSum.In != KernelModel::SumInDoubt::None)
    return std::nullopt;
  return Writer(M).run();
}
