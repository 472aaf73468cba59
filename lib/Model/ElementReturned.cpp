// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that do nothing but load an element: no product comes from them.

#include "ProductFlow.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using namespace rcache;

namespace {

/// What a function returns on all of its ways.
struct Returns : ConstDynamicRecursiveASTVisitor {
  const VarDecl *From = nullptr; ///< the pointer, a parameter
  bool Other = false;            ///< something else, too

  bool VisitReturnStmt(const ReturnStmt *R) override {
    take(R->getRetValue());
    return !Other;
  }
  bool VisitLambdaExpr(const LambdaExpr *) override { return !(Other = true); }
  bool VisitAsmStmt(const AsmStmt *) override { return !(Other = true); }
  // Which memory a pointer leads to is not decided here; and what has been stored may be
  // what is loaded.
  bool VisitBinaryOperator(const BinaryOperator *B) override {
    const QualType T = B->getLHS()->getType();
    Other |= (B->getOpcode() == BO_Assign && T->isPointerType()) ||
             (B->isAssignmentOp() && (!isa<DeclRefExpr>(B->getLHS()->IgnoreParens()) ||
                                      !(T->isIntegerType() || T->isPointerType())));
    return !Other;
  }
  bool VisitCallExpr(const CallExpr *C) override {
    const FunctionDecl *F = C->getDirectCallee();
    Other |= !(F && F->getIdentifier() && F->getName() == "__ldg") &&
             llvm::any_of(C->arguments(), [](const Expr *A) {
               return A->isGLValue() || !A->getType()->isIntegerType();
             });
    return !Other;
  }
  bool VisitUnaryOperator(const UnaryOperator *U) override {
    Other |= U->getOpcode() == UO_AddrOf && U->getSubExpr()->getType()->isPointerType();
    return !Other;
  }

private:
  void take(const Expr *E) {
    E = E ? E->IgnoreParenCasts() : nullptr;
    if (E && isa<FloatingLiteral, IntegerLiteral>(E))
      return;
    if (const auto *C = dyn_cast_or_null<ConditionalOperator>(E)) {
      take(C->getTrueExpr());
      return take(C->getFalseExpr());
    }
    const auto *U = dyn_cast_or_null<UnaryOperator>(E);
    const auto *C = dyn_cast_or_null<CallExpr>(E);
    const auto *F = C ? C->getDirectCallee() : nullptr;
    const VarDecl *V = nullptr;
    if (E && (isa<ArraySubscriptExpr, MemberExpr>(E) || (U && U->getOpcode() == UO_Deref)))
      V = rootVar(E);
    else if (F && F->getIdentifier() && F->getName() == "__ldg")
      V = rootVar(C->getArg(0)->IgnoreParenCasts());
    Other |= !V || !isa<ParmVarDecl>(V) || !V->getType()->isPointerType() ||
             (From && From != V);
    From = V;
  }
};

} // namespace

const Expr *rcache::elementReturned(const CallExpr *C) {
  const FunctionDecl *Def = calledOfUser(C);
  if (!Def || !Def->getIdentifier() || isa<CXXMethodDecl>(Def) || !isRealType(C->getType()) ||
      C->getNumArgs() != Def->getNumParams())
    return nullptr;
  Returns Of;
  Of.TraverseStmt(Def->getBody());
  if (Of.Other || !Of.From)
    return nullptr;
  const Expr *Given = C->getArg(cast<ParmVarDecl>(Of.From)->getFunctionScopeIndex());
  return rootVar(Given->IgnoreParenCasts()) ? Given->IgnoreParenCasts() : nullptr;
}
