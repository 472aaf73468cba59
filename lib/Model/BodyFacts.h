// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the text of a function's body hangs on.

#ifndef RCACHE_LIB_MODEL_BODYFACTS_H
#define RCACHE_LIB_MODEL_BODYFACTS_H

#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include <map>
#include <vector>

namespace rcache {

/// What a body refers to, changes and declares.
struct BodyFacts : clang::ConstDynamicRecursiveASTVisitor {
  std::vector<const clang::VarDecl *> Locals;
  std::map<const clang::ValueDecl *, std::vector<const clang::DeclRefExpr *>> Refs;
  llvm::SmallPtrSet<const clang::ValueDecl *, 8> Changed;
  /// Uses of pointers that mean the same of the array they point to.
  llvm::SmallPtrSet<const clang::DeclRefExpr *, 16> AsArrays;
  unsigned Returns = 0;
  bool Odd = false; ///< this, labels, lambdas, static locals: not handled

  bool VisitDeclRefExpr(const clang::DeclRefExpr *E) override {
    Refs[E->getDecl()].push_back(E);
    return true;
  }
  bool VisitVarDecl(const clang::VarDecl *V) override {
    if (!llvm::isa<clang::ParmVarDecl>(V))
      Locals.push_back(V);
    if (V->getType()->isReferenceType() && V->getInit())
      change(V->getInit());
    return true;
  }
  void change(const clang::Expr *E) {
    E = E->IgnoreParenImpCasts();
    while (auto *M = llvm::dyn_cast<clang::MemberExpr>(E))
      E = M->getBase()->IgnoreParenImpCasts();
    if (auto *R = llvm::dyn_cast<clang::DeclRefExpr>(E))
      Changed.insert(R->getDecl());
  }
  bool VisitBinaryOperator(const clang::BinaryOperator *B) override {
    if (B->isAssignmentOp())
      change(B->getLHS());
    return true;
  }
  bool VisitUnaryOperator(const clang::UnaryOperator *U) override {
    if (U->isIncrementDecrementOp() || U->getOpcode() == clang::UO_AddrOf)
      change(U->getSubExpr());
    return true;
  }
  bool VisitCallExpr(const clang::CallExpr *C) override {
    for (const clang::Expr *A : C->arguments())
      if (A->isLValue())
        change(A);
      else if (A->getType()->isPointerType())
        asArray(A);
    return true;
  }
  bool VisitArraySubscriptExpr(const clang::ArraySubscriptExpr *E) override {
    asArray(E->getBase());
    return true;
  }
  void asArray(const clang::Expr *E) {
    if (auto *R = llvm::dyn_cast<clang::DeclRefExpr>(E->IgnoreParenImpCasts()))
      AsArrays.insert(R);
  }
  bool VisitUnaryExprOrTypeTraitExpr(const clang::UnaryExprOrTypeTraitExpr *E) override {
    return E->isArgumentType() || odd(); // `sizeof p`: the argument may be an array
  }
  bool VisitReturnStmt(const clang::ReturnStmt *) override {
    ++Returns;
    return true;
  }
  bool VisitCXXThisExpr(const clang::CXXThisExpr *) override { return odd(); }
  bool VisitLabelStmt(const clang::LabelStmt *) override { return odd(); }
  bool VisitGotoStmt(const clang::GotoStmt *) override { return odd(); }
  bool VisitLambdaExpr(const clang::LambdaExpr *) override { return odd(); }
  bool VisitCXXTryStmt(const clang::CXXTryStmt *) override { return odd(); }
  bool odd() {
    Odd = true;
    return true;
  }
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_BODYFACTS_H
