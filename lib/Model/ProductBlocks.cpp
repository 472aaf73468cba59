// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products that ptxas fuses with all their sums, if these stand in the product's block of
// code, and else with none: two variable factors. See ProductFlow.h.

#include "ProductFlow.h"

using namespace clang;

namespace rcache {

bool ProductFlow::isNamed(const Expr *E, unsigned Nested) const {
  E = E->IgnoreParenCasts();
  if (Nested > 8)
    return false;
  if (const auto *D = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(D->getDecl());
    if (!V || (isa<ParmVarDecl>(V) && Kernel))
      return true;
    const bool IsSet = llvm::any_of(
        Set, [&](const auto &X) { return X.first == V->getCanonicalDecl(); });
    return V->hasAttr<CUDAConstantAttr>() ||
           (!IsSet && V->getInit() && isNamed(V->getInit(), Nested + 1));
  }
  if (const auto *A = dyn_cast<ArraySubscriptExpr>(E)) {
    const VarDecl *V = rootVar(A);
    return V && V->hasAttr<CUDAConstantAttr>() && isNamed(A->getIdx(), Nested + 1);
  }
  if (isa<CallExpr, MemberExpr, PseudoObjectExpr>(E))
    return E->isEvaluatable(Context);
  return llvm::all_of(E->children(), [&](const Node *C) {
    const auto *X = dyn_cast_or_null<Expr>(C);
    return X && isNamed(X, Nested + 1);
  });
}

bool ProductFlow::hasNamedFactor(const Expr *P) const {
  const auto *B = dyn_cast<BinaryOperator>(P->IgnoreParenImpCasts());
  return B && B->isMultiplicativeOp() &&
         (isNamed(B->getLHS(), 0) || isNamed(B->getRHS(), 0));
}

bool ProductFlow::branchBetween(const Expr *P, const Expr *R) const {
  if (hasNamedFactor(P))
    return false;
  struct Finder : ConstDynamicRecursiveASTVisitor {
    llvm::function_ref<bool(const IfStmt *)> Is;
    bool Found = false;
    explicit Finder(llvm::function_ref<bool(const IfStmt *)> Is) : Is(Is) {}
    bool VisitIfStmt(const IfStmt *If) override {
      Found |= Is(If);
      return !Found;
    }
  };
  struct Reads : ConstDynamicRecursiveASTVisitor {
    const ProductFlow &Of;
    bool Found = false;
    explicit Reads(const ProductFlow &Of) : Of(Of) {}
    bool VisitArraySubscriptExpr(const ArraySubscriptExpr *E) override {
      Found |= isRealType(E->getType()) && Of.mayBeShared(E);
      return !Found;
    }
  };
  const unsigned From = Order.lookup(P), To = Order.lookup(R);
  const auto IsBetween = [&](const IfStmt *If) {
    const unsigned At = Order.lookup(If);
    if (At <= From || At >= To || isIn(R, If))
      return false;
    Reads In(*this);
    for (const Node *Way : {If->getThen(), If->getElse()})
      if (Way)
        In.TraverseStmt(Way);
    return In.Found;
  };
  Finder Branches(IsBetween);
  Branches.TraverseStmt(Body);
  return Branches.Found;
}

bool ProductFlow::sumsInBlocks(const VarDecl *V, const Expr *P) {
  if (hasNamedFactor(P))
    return false;
  const auto IsUnderMore = [&](const Node *Use) {
    for (const Node *S = Use, *Up = Parents.getParent(S); Up && !isIn(P, Up);
         S = Up, Up = Parents.getParent(Up)) {
      const auto *If = dyn_cast<IfStmt>(Up);
      const auto *Choice = dyn_cast<ConditionalOperator>(Up);
      const auto *Logical = dyn_cast<BinaryOperator>(Up);
      if ((If && If->getCond() != S && !If->getCond()->isEvaluatable(Context)) ||
          (Choice && Choice->getCond() != S) || isa<SwitchStmt>(Up) ||
          (Logical && Logical->isLogicalOp() && Logical->getRHS() == S))
        return true;
    }
    return false;
  };
  unsigned In = 0, Under = 0;
  for (const DeclRefExpr *R : Reads[V])
    if (inSum(R) && mayRead(R, V, P)) {
      ++In;
      Under += IsUnderMore(R);
    }
  return In > 1 && Under > 0 && Under < In;
}

} // namespace rcache
