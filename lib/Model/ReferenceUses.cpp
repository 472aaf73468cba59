// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ReferenceUses.h. The uses that are meant are listed; whatever else names the
// reference may keep its address.

#include "ReferenceUses.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace rcache {
namespace {

constexpr unsigned MaxDepth = 4;

bool isOneVariable(const FunctionDecl *F, unsigned I, unsigned Depth);

class Uses : public ConstDynamicRecursiveASTVisitor {
public:
  Uses(const VarDecl *P, unsigned Depth) : P(P), Depth(Depth) {}

  bool allMeant() const { return !Odd && Meant == All; }

  bool VisitDeclRefExpr(const DeclRefExpr *E) override {
    if (E->getDecl() == P)
      All.insert(E);
    return true;
  }
  bool VisitImplicitCastExpr(const ImplicitCastExpr *E) override {
    if (E->getCastKind() == CK_LValueToRValue)
      mean(E->getSubExpr());
    return true;
  }
  bool VisitBinaryOperator(const BinaryOperator *E) override {
    if (E->isAssignmentOp())
      mean(E->getLHS());
    return true;
  }
  bool VisitUnaryOperator(const UnaryOperator *E) override {
    if (E->isIncrementDecrementOp())
      mean(E->getSubExpr());
    return true;
  }
  bool VisitCXXConstructExpr(const CXXConstructExpr *E) override {
    if (E->getConstructor()->isCopyOrMoveConstructor() &&
        E->getConstructor()->isTrivial() && E->getNumArgs() == 1)
      mean(E->getArg(0));
    return true;
  }
  bool VisitCallExpr(const CallExpr *E) override {
    const FunctionDecl *F = E->getDirectCallee();
    const auto *Operator = dyn_cast<CXXOperatorCallExpr>(E);
    if (Operator && F && Operator->getOperator() == OO_Equal && F->isTrivial()) {
      for (const Expr *A : E->arguments())
        mean(A);
    } else if (F && !isa<CXXMethodDecl>(F)) {
      for (unsigned I = 0; I < F->getNumParams() && I < E->getNumArgs(); ++I)
        if (F->getParamDecl(I)->getType()->isLValueReferenceType() &&
            isOneVariable(F, I, Depth + 1))
          mean(E->getArg(I));
    }
    return true;
  }
  bool TraverseLambdaExpr(const LambdaExpr *) override {
    Odd = true;
    return true;
  }

private:
  const VarDecl *P;
  const unsigned Depth;
  llvm::SmallPtrSet<const DeclRefExpr *, 8> All, Meant;
  bool Odd = false;

  /// The reference, or a member of it.
  void mean(const Expr *E) {
    E = E->IgnoreParens();
    if (const auto *Cast = dyn_cast<ImplicitCastExpr>(E);
        Cast && Cast->getCastKind() == CK_NoOp)
      E = Cast->getSubExpr()->IgnoreParens();
    while (const auto *Member = dyn_cast<MemberExpr>(E)) {
      if (Member->isArrow())
        return;
      E = Member->getBase()->IgnoreParens();
    }
    if (const auto *R = dyn_cast<DeclRefExpr>(E); R && R->getDecl() == P)
      Meant.insert(R);
  }
};

bool isOneVariable(const FunctionDecl *F, unsigned I, unsigned Depth) {
  const FunctionDecl *Def = nullptr;
  if (Depth > MaxDepth || !F->hasBody(Def) || I >= Def->getNumParams() ||
      Def->getReturnType()->isReferenceType())
    return false;
  Uses U(Def->getParamDecl(I), Depth);
  U.TraverseStmt(Def->getBody());
  return U.allMeant();
}

} // namespace

bool isOneVariable(const VarDecl *V, const clang::Stmt *Body) {
  Uses U(V, 0);
  U.TraverseStmt(Body);
  return U.allMeant();
}

bool isOneVariable(const FunctionDecl *F, unsigned I) { return isOneVariable(F, I, 0); }

} // namespace rcache
