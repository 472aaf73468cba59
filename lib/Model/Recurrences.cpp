// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Recurrences.h.

#include "Recurrences.h"

using namespace clang;

namespace rcache {

int Executor::Recurring::symbolOf(const VarDecl *V) const {
  const auto It = X.Cur.Env.find(V);
  if (It == X.Cur.Env.end() || !It->second.Int)
    return -1;
  const std::optional<Linear> L = X.Arith.linear(It->second.Int->Aff);
  if (!L || L->Const != 0 || L->Terms.size() != 1 ||
      L->Terms.begin()->second != 1)
    return -1;
  return X.M.symbolIndex(L->Terms.begin()->first);
}

void Executor::Recurring::roundStarts(const Variables &Changed,
                                      const Environment &Before) {
  for (const VarDecl *V : Changed) {
    const int I = X.L.varIndex(V);
    const auto It = Before.find(V);
    if (I < 0 || It == Before.end() || !It->second.Int ||
        X.M.Vars[I].AddressTaken || X.M.Vars[I].IsReference ||
        (X.M.Vars[I].Depends & (DepThread | DepShared | DepGlobal)))
      continue;
    const IntType T = X.Ev.intType(V->getType());
    Stmt::Recurrence R;
    R.Symbol = symbolOf(V);
    R.First = It->second.Int->Aff;
    R.Bits = T.Bits;
    R.Signed = T.Signed;
    All.push_back({V, R});
  }
  llvm::sort(All, [&](const Watched &A, const Watched &B) {
    return X.L.varIndex(A.V) < X.L.varIndex(B.V);
  });
}

void Executor::Recurring::roundEnds() {
  for (Watched &W : All)
    if (const auto It = X.Cur.Env.find(W.V);
        It != X.Cur.Env.end() && It->second.Int)
      W.R.Next = It->second.Int->Aff;
}

void Executor::Recurring::loopEnds() {
  for (Watched &W : All) {
    W.R.After = symbolOf(W.V);
    if (!W.R.Next.is_null() && (W.R.Symbol >= 0 || W.R.After >= 0))
      X.M.Stmts[Id].Carried.push_back(std::move(W.R));
  }
}

} // namespace rcache
