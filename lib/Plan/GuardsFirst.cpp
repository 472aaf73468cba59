// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See GuardsFirst.h.

#include "rcache/GuardsFirst.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

using namespace rcache;

/// The last statement of block \p B that does something; null: there is none.
static const Stmt *lastOf(const KernelModel &M, const Stmt &B) {
  for (size_t I = B.Children.size(); I-- > 0;) {
    const Stmt &S = M.stmt(B.Children[I]);
    const llvm::StringRef Text = llvm::StringRef(M.Text).slice(S.Range.Begin,
                                                               S.Range.End);
    if (Text.trim() == ";" || (S.K == Stmt::Return && Text.trim() == "return;"))
      continue;
    return &S;
  }
  return nullptr;
}

std::optional<OtherBody> rcache::guardsFirst(const KernelModel &M) {
  if (M.Stmts.empty() || M.stmt(0).K != Stmt::Block)
    return std::nullopt;
  struct Guard {
    TextRange Header;
    std::string Cond;
  };
  std::vector<Guard> Guards;
  const Stmt *S = lastOf(M, M.stmt(0));
  while (S && S->HasBarrier && S->K == Stmt::If && S->Children.size() == 1 &&
         (S->CondDepends & DepThread)) {
    const Stmt &Then = M.stmt(S->Children[0]);
    // `if (cond)` and nothing else: no declaration, no constexpr.
    const TextRange Header{S->Range.Begin, Then.Range.Begin};
    llvm::StringRef Text =
        llvm::StringRef(M.Text).slice(Header.Begin, Header.End).trim();
    const std::string Cond = M.text(S->CondRange);
    if (Cond.empty() || !Header.contains(S->CondRange) ||
        !Text.consume_front("if") || !Text.ltrim().starts_with("(") ||
        !Text.ends_with(")") ||
        Text.trim().drop_front().drop_back().trim() != Cond ||
        Cond.find("//") != std::string::npos)
      return std::nullopt;
    Guards.push_back({Header, Cond});
    S = Then.K == Stmt::Block ? lastOf(M, Then) : nullptr;
  }
  if (Guards.empty())
    return std::nullopt;
  OtherBody Out;
  unsigned Done = M.BodyRange.Begin;
  for (const Guard &G : Guards) {
    if (G.Header.Begin < Done)
      return std::nullopt;
    Out.Text += M.text({Done, G.Header.Begin}) + "if (!(" + G.Cond +
                ")) return; ";
    Done = G.Header.End;
  }
  Out.Text += M.text({Done, M.BodyRange.End});
  Out.Form = M.Form;
  Out.Note = "threads for which '" + Guards.front().Cond +
             "' does not hold return in front of it: the barriers are under it";
  return Out;
}
