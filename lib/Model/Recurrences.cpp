// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Recurrences.h.

#include "Recurrences.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

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
    All.push_back({V, R, {}});
  }
  llvm::sort(All, [&](const Watched &A, const Watched &B) {
    return X.L.varIndex(A.V) < X.L.varIndex(B.V);
  });
}

/// Follows \p All from what they hold in front of the loop until they hold what
/// they held in a round before: that gives their bounds. False: some do not come
/// round, or something else has its say in them; these are taken out.
bool Executor::Recurring::follow(Group &All,
                                 llvm::function_ref<void()> Round) {
  constexpr size_t MostValues = 8;
  std::vector<std::set<int64_t>> Values(All.size());
  std::set<std::vector<int64_t>> Seen;
  std::vector<int64_t> Now;
  for (const Watched *W : All)
    Now.push_back(*X.Arith.constantValue(W->R.First));
  llvm::SmallPtrSet<const Watched *, 4> Lost;
  while (Lost.empty() && Seen.insert(Now).second) {
    Trial T(X.Cur, X.Rec);
    for (size_t I = 0; I < All.size(); ++I) {
      X.Cur.Env[All[I]->V].Int = IntValue{X.Arith.constant(Now[I]), true};
      X.Cur.Env[All[I]->V].V = nullptr;
      Values[I].insert(Now[I]);
    }
    Round();
    for (size_t I = 0; I < All.size(); ++I) {
      const auto It = X.Cur.Env.find(All[I]->V);
      const auto V = It != X.Cur.Env.end() && It->second.Int
                         ? X.Arith.constantValue(It->second.Int->Aff)
                         : std::nullopt;
      const IntType Type{All[I]->R.Bits, All[I]->R.Signed};
      if (!V || *V < Type.min() || *V > Type.max() ||
          Values[I].size() > MostValues)
        Lost.insert(All[I]);
      else
        Now[I] = *V;
    }
  }
  for (size_t I = 0; I < All.size() && Lost.empty(); ++I)
    All[I]->Within = {*Values[I].begin(), *Values[I].rbegin()};
  llvm::erase_if(All, [&](const Watched *W) { return Lost.contains(W); });
  return Lost.empty();
}

/// \p Symbol lies within \p B from here on.
void Executor::Recurring::lies(int Symbol, const Bounds &B) {
  if (Symbol < 0 || !B)
    return;
  const isl::pw_aff S =
      X.Arith.symbol(X.M.Symbols[static_cast<size_t>(Symbol)].Id);
  auto &Known = X.Cur.Path.Known;
  Known = Known.intersect(S.ge_set(X.Arith.constant(B->first)))
              .intersect(S.le_set(X.Arith.constant(B->second)));
}

void Executor::Recurring::findBounds(llvm::function_ref<void()> Round) {
  if (X.Cur.OnTrial)
    return;
  Group Known;
  // (What is doubled or halved lies between the ends of the loop already.)
  for (Watched &W : All)
    if (W.R.Symbol >= 0 && W.R.Symbol != X.M.Stmts[Id].FactorSymbol &&
        X.Arith.constantValue(W.R.First))
      Known.push_back(&W);
  while (!Known.empty() && !follow(Known, Round)) {
  }
  for (const Watched *W : Known)
    lies(W->R.Symbol, W->Within);
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
    lies(W.R.After, W.Within);
    if (!W.R.Next.is_null() && (W.R.Symbol >= 0 || W.R.After >= 0))
      X.M.Stmts[Id].Carried.push_back(std::move(W.R));
  }
}

} // namespace rcache
