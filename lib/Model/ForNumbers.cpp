// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ForNumbers.h.

#include "ForNumbers.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace rcache {
namespace {

bool isInteger(const Expr *E) {
  return E->getType()->isIntegralOrEnumerationType();
}

class Names : public ConstDynamicRecursiveASTVisitor {
public:
  explicit Names(const ASTContext &AC) : AC(AC) {}
  NamesForNumbers Found;

  bool VisitCastExpr(const CastExpr *E) override {
    if (E->getCastKind() == CK_IntegralToFloating)
      add(E->getSubExpr());
    return true;
  }
  bool VisitConditionalOperator(const ConditionalOperator *E) override {
    if (!isInteger(E))
      add(E->getCond());
    return true;
  }
  bool VisitCallExpr(const CallExpr *E) override {
    if (!isOfIntegers(E))
      for (const Expr *A : E->arguments())
        add(A);
    return true;
  }
  bool VisitCXXConstructExpr(const CXXConstructExpr *E) override {
    for (const Expr *A : E->arguments())
      add(A);
    return true;
  }

private:
  const ASTContext &AC;

  void add(const clang::Stmt *S) {
    if (auto *R = dyn_cast_or_null<DeclRefExpr>(S))
      Found.insert(R);
    else if (S)
      for (const clang::Stmt *C : S->children())
        add(C);
  }

  /// A function of a system header that makes integers of integers: `min(i,
  /// n)`.
  bool isOfIntegers(const CallExpr *E) const {
    const FunctionDecl *F = E->getDirectCallee();
    return F && isInteger(E) &&
           AC.getSourceManager().isInSystemHeader(F->getLocation()) &&
           llvm::all_of(E->arguments(), isInteger);
  }
};

} // namespace

NamesForNumbers namesForNumbers(const clang::Stmt *Body, const ASTContext &AC) {
  Names V(AC);
  V.TraverseStmt(Body);
  return std::move(V.Found);
}

} // namespace rcache
