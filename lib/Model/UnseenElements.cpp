// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of shared arrays that the body names, or reaches by a pointer that it
// keeps, and no access of the model holds.

#include "BodyEffects.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace rcache {

namespace {

class UnseenElements {
public:
  UnseenElements(const KernelModel &M, FlatText &Flat) : M(M), Flat(Flat) {}

  std::optional<Obstacle> Found;

  /// The pointers and references of \p Body that may lead to shared arrays, on whatever
  /// path.
  void findHolders(const clang::Stmt *Body) {
    size_t Before = 0;
    do {
      Before = Holders.size();
      addHolders(Body);
    } while (Holders.size() != Before);
  }

  /// \p Place: only where it is, not what it holds, is asked for. \p Kept: in
  /// a pointer or a reference of the kernel, which the model follows.
  void walk(const clang::Stmt *S, bool Place, bool Kept = false) {
    if (!S || Found || isa<UnaryExprOrTypeTraitExpr>(S) || isa<LambdaExpr>(S) ||
        isa<CXXNoexceptExpr>(S))
      return;
    if (auto *D = dyn_cast<DeclStmt>(S)) {
      for (const Decl *X : D->decls())
        if (auto *V = dyn_cast<VarDecl>(X)) {
          walk(V->getInit(), V->getType()->isReferenceType(),
               V->getType()->isReferenceType() ||
                   V->getType()->isPointerType());
          if (V->getType()->isReferenceType() && V->getInit() &&
              V->getType()->getPointeeType()->isPointerType() && Holders.count(V))
            pointer(V, V->getInit()->getBeginLoc());
        }
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
      else if (V && Holders.count(V) && !Kept && !Place && !range(R).empty() &&
               !isKnown(range(R), nullptr))
        pointer(V, R->getBeginLoc());
      return;
    }
    if (const Expr *Of = throughPointer(S)) {
      // (Elements of the arrays themselves are judged below.)
      const VarDecl *P = holder(Of);
      if (P && isSharedVar(P))
        P = nullptr;
      const auto *A = dyn_cast<ArraySubscriptExpr>(S);
      if (P && !Place && !isReached(range(cast<Expr>(S))))
        return pointer(P, cast<Expr>(S)->getBeginLoc());
      if (P) {
        walk(Of, false, true);
        return A ? walk(A->getIdx(), false) : void();
      }
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
    if (ofPointers(S))
      return;
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
  llvm::SmallPtrSet<const VarDecl *, 8> Holders;

  /// What is done to a pointer as such, and is walked in here.
  bool ofPointers(const clang::Stmt *S) {
    if (auto *B = dyn_cast<BinaryOperator>(S);
        B && B->isComparisonOp() && B->getLHS()->getType()->isPointerType()) {
      walk(B->getLHS(), false, true);
      walk(B->getRHS(), false, true);
      return true;
    }
    if (auto *B = dyn_cast<BinaryOperator>(S);
        B && B->getOpcode() == BO_Assign && B->getType()->isPointerType()) {
      walk(B->getLHS(), true);
      walk(B->getRHS(), false, assigned(B));
      return true;
    }
    // Moved on, or asked whether it is null.
    if (auto *B = dyn_cast<CompoundAssignOperator>(S);
        B && B->getType()->isPointerType()) {
      walk(B->getLHS(), true);
      walk(B->getRHS(), false);
      return true;
    }
    if (auto *U = dyn_cast<UnaryOperator>(S); U && U->getType()->isPointerType() &&
                                              U->isIncrementDecrementOp()) {
      walk(U->getSubExpr(), true);
      return true;
    }
    if (auto *C = dyn_cast<CastExpr>(S);
        C && C->getCastKind() == CK_PointerToBoolean) {
      walk(C->getSubExpr(), false, true);
      return true;
    }
    if (auto *U = dyn_cast<UnaryOperator>(S); U && U->getOpcode() == UO_AddrOf)
      if (auto *R = dyn_cast<DeclRefExpr>(U->getSubExpr()->IgnoreParens()))
        if (auto *V = dyn_cast<VarDecl>(R->getDecl());
            V && V->getType()->isPointerType() && Holders.count(V)) {
          pointer(V, U->getBeginLoc());
          return true;
        }
    return false;
  }
  void pointer(const VarDecl *V, SourceLocation At) {
    Found = Obstacle{DeclineCode::EscapingArray,
                     "'" + V->getNameAsString() +
                         "' leads to shared memory in a way that is not followed",
                     At};
  }
  void addHolders(const clang::Stmt *S) {
    if (!S)
      return;
    if (auto *D = dyn_cast<DeclStmt>(S)) {
      for (const Decl *X : D->decls())
        if (auto *V = dyn_cast<VarDecl>(X); V && V->getInit() &&
            (V->getType()->isPointerType() || V->getType()->isReferenceType()) &&
            holder(V->getInit()))
          Holders.insert(V);
    } else if (auto *B = dyn_cast<BinaryOperator>(S); B && B->getOpcode() == BO_Assign) {
      if (const VarDecl *V = assigned(B); V && holder(B->getRHS()))
        Holders.insert(V);
    }
    for (const clang::Stmt *C : S->children())
      addHolders(C);
  }
  /// The variable that \p B assigns an address to.
  static const VarDecl *assigned(const BinaryOperator *B) {
    auto *R = dyn_cast<DeclRefExpr>(B->getLHS()->IgnoreParens());
    auto *V = R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
    return V && V->hasLocalStorage() && V->getType()->isPointerType() ? V : nullptr;
  }
  /// The shared array, or what may lead to one, that \p E, an address or a place, is in.
  const VarDecl *holder(const Expr *E) const {
    E = E->IgnoreParens();
    if (auto *R = dyn_cast<DeclRefExpr>(E)) {
      auto *V = dyn_cast<VarDecl>(R->getDecl());
      return V && (isSharedVar(V) || Holders.count(V)) ? V : nullptr;
    }
    if (auto *C = dyn_cast<CastExpr>(E)) {
      // A value out of memory, no matter whose.
      if (C->getCastKind() == CK_LValueToRValue &&
          !isa<DeclRefExpr>(C->getSubExpr()->IgnoreParens()))
        return nullptr;
      return holder(C->getSubExpr());
    }
    if (auto *A = dyn_cast<ArraySubscriptExpr>(E))
      return holder(A->getBase());
    if (auto *Mem = dyn_cast<MemberExpr>(E))
      return holder(Mem->getBase());
    if (auto *C = dyn_cast<AbstractConditionalOperator>(E)) {
      const VarDecl *First = holder(C->getTrueExpr());
      return First ? First : holder(C->getFalseExpr());
    }
    if (auto *B = dyn_cast<BinaryOperator>(E)) {
      const VarDecl *Right = holder(B->getRHS());
      return Right || !B->isAdditiveOp() ? Right : holder(B->getLHS());
    }
    if (isa<UnaryOperator, FullExpr, MaterializeTemporaryExpr, CallExpr>(E) &&
        (E->getType()->isPointerType() || E->isGLValue()))
      for (const clang::Stmt *C : E->children())
        if (auto *X = dyn_cast_or_null<Expr>(C))
          if (const VarDecl *V = holder(X))
            return V;
    return nullptr;
  }
  /// The pointer by which \p S is a place.
  static const Expr *throughPointer(const clang::Stmt *S) {
    if (auto *U = dyn_cast<UnaryOperator>(S); U && U->getOpcode() == UO_Deref)
      return U->getSubExpr();
    if (auto *A = dyn_cast<ArraySubscriptExpr>(S))
      return A->getBase();
    auto *Mem = dyn_cast<MemberExpr>(S);
    return Mem && Mem->isArrow() ? Mem->getBase() : nullptr;
  }
  /// Does an access begin with what stands at \p At?
  bool isReached(TextRange At) const {
    return At.empty() || llvm::any_of(M.SharedAccesses, [&](const SharedAccess &A) {
             return A.Range.contains(At) &&
                    M.text(TextRange{A.Range.Begin, At.Begin}).find_first_not_of("(*& \n") ==
                        std::string::npos;
           });
  }

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
             return (!V || M.Arrays[A.Array].Name == V->getName()) &&
                    A.Range.contains(At);
           });
  }
};

} // namespace

std::optional<Obstacle> unseenElement(const FunctionDecl *FD,
                                      const KernelModel &M, FlatText &Flat) {
  UnseenElements F(M, Flat);
  F.findHolders(FD->getBody());
  F.walk(FD->getBody(), false);
  return F.Found;
}

} // namespace rcache
