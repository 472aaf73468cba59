// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Comparisons.h.

#include "Comparisons.h"
#include "llvm/ADT/StringRef.h"

using namespace rcache;

/// Where the first operand of `A && B && ...` ends; npos: \p T is none.
static size_t endOfFirst(llvm::StringRef T) {
  size_t End = llvm::StringRef::npos;
  int Depth = 0;
  for (size_t I = 0; I < T.size(); ++I) {
    Depth += T[I] == '(' || T[I] == '[' || T[I] == '{';
    Depth -= T[I] == ')' || T[I] == ']' || T[I] == '}';
    if (T[I] == '\'' || T[I] == '"' || T[I] == '/')
      return llvm::StringRef::npos; // (comments, literals)
    if (Depth > 0)
      continue;
    if (T[I] == '?' || T[I] == ',' || T.substr(I).starts_with("||"))
      return llvm::StringRef::npos;
    if (End == llvm::StringRef::npos && T.substr(I).starts_with("&&"))
      End = I;
  }
  return End;
}

std::optional<Comparison> rcache::firstComparison(const KernelModel &M,
                                                  const Stmt &If) {
  const std::string Whole = M.text(If.CondRange);
  const size_t End = endOfFirst(Whole);
  if (End == std::string::npos)
    return std::nullopt;
  // Without space and parentheses around it.
  llvm::StringRef T = llvm::StringRef(Whole).take_front(End).trim();
  while (T.starts_with("(") && T.ends_with(")"))
    T = T.drop_front().drop_back().trim();
  Comparison C;
  C.Text.Begin = If.CondRange.Begin + unsigned(T.data() - Whole.data());
  C.Text.End = C.Text.Begin + unsigned(T.size());
  const VarUse *Left = nullptr, *Right = nullptr;
  for (const VarUse &U : M.VarUses) {
    if (!C.Text.contains(U.Range))
      continue;
    if (U.Range.Begin == C.Text.Begin)
      Left = &U;
    else if (U.Range.End == C.Text.End)
      Right = &U;
  }
  if (!Left || !Right || Left->Range.End >= Right->Range.Begin)
    return std::nullopt;
  const std::string Between =
      M.text({Left->Range.End, Right->Range.Begin});
  const llvm::StringRef Sign = llvm::StringRef(Between).trim();
  if (Sign != "<" && Sign != ">")
    return std::nullopt;
  C.Left = Left->Var;
  C.Right = Right->Var;
  C.Greater = Sign == ">";
  for (const unsigned V : {C.Left, C.Right})
    if (const Var &Of = M.Vars[V];
        Of.IsParam || Of.Assigned || Of.AddressTaken || !Of.Init)
      return std::nullopt;
  return C;
}
