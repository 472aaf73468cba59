// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables that move along with a loop's rounds.

#include "BuiltinVars.h"
#include "LoopFacts.h"
#include "LoopSyntax.h"

using namespace clang;

namespace rcache {

/// Has \p S, the step of a variable, the same value in each round of \p Loop?
bool LoopFacts::sameInEachRound(const clang::Stmt *S, const Stmt &Loop,
                                const Variables &Modified) const {
  if (auto *R = dyn_cast<DeclRefExpr>(S))
    if (auto *V = dyn_cast<VarDecl>(R->getDecl());
        V && (Modified.count(V) || L.varIndex(V) == Loop.IterVar ||
              L.arrayIndex(V) >= 0))
      return false;
  if (isa<CallExpr>(S))
    return false;
  if (auto *X = dyn_cast<Expr>(S); X && builtinVar(X))
    return true;
  return llvm::all_of(S->children(), [&](const clang::Stmt *K) {
    return !K || sameInEachRound(K, Loop, Modified);
  });
}

/// What the variable of \p C, which holds its first value, holds in a round:
/// \p Rounds is how far the counter has moved, in steps of \p Step.
std::optional<SVal> LoopFacts::movedBy(const LoopCounter &C,
                                       const isl::pw_aff &Rounds,
                                       int64_t Step) {
  SVal By;
  {
    Quietly Q(Cur);
    By = C.Step ? Ev.eval(C.Step) : Ev.ofConst(1, AC.IntTy);
  }
  SVal V = Cur.Env[C.V];
  std::optional<Linear> Lin = By.Int ? Arith.linear(By.Int->Aff) : std::nullopt;
  bool Pointer = V.K == SVal::Pointer && !V.IdxInt.empty() && V.IdxInt.back() &&
                 V.Base != SVal::UnknownBase;
  if (!Lin || !(Pointer || V.Int))
    return std::nullopt;
  // c * (moved / step): exact when step divides c.
  int64_t Abs = std::abs(Step);
  bool Divides = Lin->Const % Abs == 0;
  for (auto &[T, Coef] : Lin->Terms)
    Divides &= Coef % Abs == 0;
  if (!Divides)
    return std::nullopt;
  Lin->Const /= Abs;
  for (auto &[T, Coef] : Lin->Terms)
    Coef /= Abs;
  IntType Ty = Pointer ? IntType{64, true} : V.Type;
  auto Delta = Arith.mul({Arith.fromLinear(*Lin), true}, {Rounds, true}, Ty,
                         Cur.where());
  if (!Delta)
    return std::nullopt;
  if (Pointer) {
    auto Sum = C.Down ? Arith.sub(*V.IdxInt.back(), *Delta, Ty)
                      : Arith.add(*V.IdxInt.back(), *Delta, Ty);
    if (!Sum)
      return std::nullopt;
    V.IdxInt.back() = Sum;
    V.Idx.back() = Ev.affineValue(Sum->Aff, "long long");
    V.Flattened = V.Idx.size() > 1;
  } else {
    auto Sum =
        C.Down ? Arith.sub(*V.Int, *Delta, Ty) : Arith.add(*V.Int, *Delta, Ty);
    if (!Sum)
      return std::nullopt;
    V = Ev.ofInt(*Sum, C.V->getType());
    // The variable held it: it fits.
    if (Ty.Signed)
      if (auto Fits = Arith.fitsUnlessPlain(Sum->Aff, Ty))
        Cur.Path.Known = Cur.Path.Known.intersect(*Fits);
  }
  return V;
}

void LoopFacts::inductionVariables(
    const ForStmt *F, unsigned Id,
    llvm::SmallPtrSetImpl<const VarDecl *> &Modified) {
  const Stmt &Loop = M.Stmts[Id];
  if (Loop.Cooperative || !Loop.Step)
    return;
  int64_t Step = *Loop.Step;
  isl::pw_aff I = Arith.symbol(M.Symbols[Loop.IterSymbol].Id);
  isl::pw_aff Moved =
      Step > 0 ? I.sub(Loop.Init) : isl::pw_aff(Loop.Init).sub(I);

  // Statements that run once a round.
  std::vector<const Expr *> Always;
  std::function<void(const Expr *)> Split = [&](const Expr *E) {
    E = E->IgnoreParenImpCasts();
    if (auto *B = dyn_cast<BinaryOperator>(E);
        B && B->getOpcode() == BO_Comma) {
      Split(B->getLHS());
      Split(B->getRHS());
    } else {
      Always.push_back(E);
    }
  };
  if (auto *C = dyn_cast<CompoundStmt>(F->getBody())) {
    for (const clang::Stmt *X : C->body())
      if (auto *E = dyn_cast<Expr>(X))
        Split(E);
  } else if (auto *E = dyn_cast<Expr>(F->getBody())) {
    Split(E);
  }
  Split(F->getInc());

  for (const Expr *E : Always) {
    LoopCounter C;
    if (!matchStep(E, C) || !Modified.count(C.V) || !Cur.Env.count(C.V) ||
        L.varIndex(C.V) < 0 || M.Vars[L.varIndex(C.V)].AddressTaken)
      continue;
    if (timesAssigned(F->getBody(), C.V, L) +
            timesAssigned(F->getInc(), C.V, L) +
            timesAssigned(F->getCond(), C.V, L) !=
        1)
      continue;
    if (C.Step && !sameInEachRound(C.Step, Loop, Modified))
      continue;
    if (auto V = movedBy(C, Moved, Step)) {
      Cur.Env[C.V] = *V;
      Modified.erase(C.V);
    }
  }
}

void LoopFacts::geometricLoop(const Expr *Step,
                              llvm::ArrayRef<const clang::Stmt *> Body,
                              unsigned Id, SVal First) {
  int64_t Factor = 0;
  const VarDecl *V = geometricStep(Step, Factor, AC);
  int I = L.varIndex(V);
  llvm::SmallPtrSet<const VarDecl *, 8> InBody;
  for (const clang::Stmt *S : Body)
    L.assignedIn(S, InBody);
  auto It = Cur.Env.find(V);
  if (I < 0 || InBody.count(V) || M.Vars[I].AddressTaken ||
      It == Cur.Env.end() || !It->second.Int || !First.Int)
    return;
  auto Init = Arith.exact(*First.Int, First.Type, Cur.where());
  if (!Init)
    return;
  isl::pw_aff S = It->second.Int->Aff;
  isl::pw_aff Zero = Arith.constant(0), One = Arith.constant(1);
  IntType T = Ev.intType(V->getType());
  if (Factor < 0 && Arith.proveInRange(*Init, 0, T.max(), Cur.where()))
    Cur.Path.Known =
        Cur.Path.Known.intersect(S.ge_set(Zero)).intersect(S.le_set(*Init));
  else if (Factor > 0 && T.Signed &&
           Arith.proveInRange(*Init, 1, T.max(), Cur.where()))
    Cur.Path.Known = Cur.Path.Known.intersect(S.ge_set(*Init));
  else if (Factor < 0 || T.Signed)
    return;
  Stmt &Loop = M.Stmts[Id];
  Loop.FactorVar = I;
  if (std::optional<Linear> L = Arith.linear(S); L && L->Terms.size() == 1)
    Loop.FactorSymbol = M.symbolIndex(L->Terms.begin()->first);
  Loop.Init = *Init;
  Loop.Factor = Factor;
}

} // namespace rcache
