// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of shared arrays that the body names and no access of the model
// holds.

#include "BodyEffects.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace rcache {

namespace {

class UnseenElements {
public:
  UnseenElements(const KernelModel &M, FlatText &Flat) : M(M), Flat(Flat) {}

  std::optional<Obstacle> Found;

  /// \p Place: only where it is, not what it holds, is asked for. \p Kept: in
  /// a pointer or a reference of the kernel, which the model follows.
  void walk(const clang::Stmt *S, bool Place, bool Kept = false) {
    if (!S || Found || isa<UnaryExprOrTypeTraitExpr>(S) || isa<LambdaExpr>(S) ||
        isa<CXXNoexceptExpr>(S))
      return;
    if (auto *D = dyn_cast<DeclStmt>(S)) {
      for (const Decl *X : D->decls())
        if (auto *V = dyn_cast<VarDecl>(X))
          walk(V->getInit(), V->getType()->isReferenceType(),
               V->getType()->isReferenceType() ||
                   V->getType()->isPointerType());
      return;
    }
    if (auto *R = dyn_cast<DeclRefExpr>(S)) {
      auto *V = dyn_cast<VarDecl>(R->getDecl());
      if (V && isSharedVar(V) && !Kept && !range(R).empty() &&
          !isKnown(range(R), V))
        Found = Obstacle{DeclineCode::EscapingArray,
                         "'" + V->getNameAsString() +
                             "' is used other than by its elements",
                         R->getBeginLoc()};
      return;
    }
    if (auto *A = dyn_cast<ArraySubscriptExpr>(S)) {
      const VarDecl *V = array(A);
      if (V && !Place && !A->getType()->isArrayType() && !isKnown(range(A), V))
        Found = Obstacle{DeclineCode::EscapingArray,
                         "an element of '" + V->getNameAsString() +
                             "' in an expression that is not followed",
                         A->getBeginLoc()};
      // An element that the model knows, or part of a place that is kept.
      walk(A->getBase(), true, Kept || (V && isKnown(range(A), V)));
      return walk(A->getIdx(), false);
    }
    bool Inner = false;
    Kept = Kept && keepsPlace(cast<Expr>(S));
    if (auto *B = dyn_cast<BinaryOperator>(S);
        B && B->isComparisonOp() && B->getLHS()->getType()->isPointerType()) {
      walk(B->getLHS(), false, true);
      return walk(B->getRHS(), false, true);
    }
    if (auto *B = dyn_cast<BinaryOperator>(S);
        B && B->getOpcode() == BO_Assign && B->getType()->isPointerType()) {
      walk(B->getLHS(), true);
      return walk(B->getRHS(), false, true);
    }
    if (auto *U = dyn_cast<UnaryOperator>(S))
      Inner = U->getOpcode() == UO_AddrOf;
    else if (isa<ParenExpr>(S) || isa<MemberExpr>(S) ||
             isa<MaterializeTemporaryExpr>(S) || isa<ExprWithCleanups>(S))
      Inner = Place;
    else if (auto *C = dyn_cast<CastExpr>(S))
      Inner = Place && C->getCastKind() != CK_LValueToRValue;
    else if (isa<AbstractConditionalOperator>(S))
      Inner = Place;
    for (const clang::Stmt *C : S->children())
      walk(C, Inner, Kept);
  }

private:
  const KernelModel &M;
  FlatText &Flat;

  /// The shared array that \p E, an array or an element of one, names.
  static const VarDecl *array(const Expr *E) {
    while (true) {
      E = E->IgnoreParenImpCasts();
      if (auto *A = dyn_cast<ArraySubscriptExpr>(E))
        E = A->getBase();
      else if (auto *R = dyn_cast<DeclRefExpr>(E)) {
        auto *V = dyn_cast<VarDecl>(R->getDecl());
        return V && isSharedVar(V) && V->getType()->isArrayType() ? V : nullptr;
      } else
        return nullptr;
    }
  }

  /// Is the value of \p E the place that an operand of it is, or near it?
  static bool keepsPlace(const Expr *E) {
    if (isa<ParenExpr>(E) || isa<CastExpr>(E) || isa<FullExpr>(E) ||
        isa<MaterializeTemporaryExpr>(E) || isa<AbstractConditionalOperator>(E))
      return true;
    if (auto *U = dyn_cast<UnaryOperator>(E))
      return U->getOpcode() == UO_AddrOf || U->getOpcode() == UO_Deref;
    auto *B = dyn_cast<BinaryOperator>(E);
    return B && B->isAdditiveOp() && B->getType()->isPointerType();
  }

  TextRange range(const Expr *E) const {
    return Flat.range(E->getSourceRange()).value_or(TextRange());
  }
  /// Does an access to \p V that the model knows hold what stands at \p At?
  bool isKnown(TextRange At, const VarDecl *V) const {
    return !At.empty() &&
           llvm::any_of(M.SharedAccesses, [&](const SharedAccess &A) {
             return M.Arrays[A.Array].Name == V->getName() &&
                    A.Range.contains(At);
           });
  }
};

} // namespace

std::optional<Obstacle> unseenElement(const FunctionDecl *FD,
                                      const KernelModel &M, FlatText &Flat) {
  UnseenElements F(M, Flat);
  F.walk(FD->getBody(), false);
  return F.Found;
}

} // namespace rcache
