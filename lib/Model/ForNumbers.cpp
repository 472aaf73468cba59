// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ForNumbers.h.

#include "ForNumbers.h"
#include "Effects.h"
#include "ValueMaker.h"
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

/// Without floating-point numbers, also behind pointers.
bool holdsNone(QualType T) {
  T = T.getCanonicalType().getNonReferenceType();
  if (T->isIntegralOrEnumerationType() || T->isVoidType())
    return true;
  const auto *R = T->getAsCXXRecordDecl();
  return R && R->hasDefinition() &&
         llvm::all_of(R->bases(),
                      [](const CXXBaseSpecifier &B) {
                        return holdsNone(B.getType());
                      }) &&
         llvm::all_of(R->fields(),
                      [](const FieldDecl *F) { return holdsNone(F->getType()); });
}

/// Functions of the program in which integers stay integers.
class IntegersInCalls : public ConstDynamicRecursiveASTVisitor {
public:
  explicit IntegersInCalls(const ASTContext &AC) : AC(AC) {}

  /// Does the function that \p E calls, with all that it calls, make no number of an
  /// integer?
  bool keeps(const CallExpr *E) {
    Makes = false;
    Followed.clear();
    VisitCallExpr(E);
    return !Makes;
  }

  bool VisitCastExpr(const CastExpr *E) override {
    Makes |= E->getCastKind() == CK_IntegralToFloating &&
             !E->getSubExpr()->isEvaluatable(AC);
    return !Makes;
  }
  bool VisitCallExpr(const CallExpr *E) override {
    const FunctionDecl *F = E->getDirectCallee(), *Def = nullptr;
    if (F && F->hasBody(Def) && !AC.getSourceManager().isInSystemHeader(F->getLocation())) {
      if (Followed.insert(Def).second)
        TraverseStmt(Def->getBody());
    } else {
      Makes |= !holdsNone(E->getType()) &&
               llvm::any_of(E->arguments(), [](const Expr *A) { return isInteger(A); });
      Makes |= !F;
    }
    return !Makes;
  }
  bool VisitCXXConstructExpr(const CXXConstructExpr *E) override {
    Makes |= !E->getConstructor()->isTrivial() && !holdsNone(E->getType());
    return !Makes;
  }
  bool VisitAsmStmt(const AsmStmt *) override { return !(Makes = true); }

private:
  const ASTContext &AC;
  llvm::SmallPtrSet<const FunctionDecl *, 8> Followed;
  bool Makes = false;
};

class Names : public ConstDynamicRecursiveASTVisitor {
public:
  Names(const ASTContext &AC, bool Multiplies) : AC(AC), Multiplies(Multiplies) {}
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
    if (!isOfIntegers(E) && (Multiplies || !OfIntegers.keeps(E)))
      for (const Expr *A : E->arguments())
        add(A);
    return true;
  }
  bool VisitCXXConstructExpr(const CXXConstructExpr *E) override {
    if (E->getConstructor()->isTrivial() && holdsNone(E->getType()))
      return true; // a copy
    for (const Expr *A : E->arguments())
      add(A);
    return true;
  }

private:
  const ASTContext &AC;
  const bool Multiplies; ///< something may be fused
  IntegersInCalls OfIntegers{AC};

  void add(const clang::Stmt *S) {
    if (auto *R = dyn_cast_or_null<DeclRefExpr>(S))
      Found.insert(R);
    else if (S)
      for (const clang::Stmt *C : S->children())
        add(C);
  }

  /// A function of a system header that makes integers, or a struct of them, of
  /// integers: `min(i, n)`, `make_int2(i, n)`.
  bool isOfIntegers(const CallExpr *E) const {
    const FunctionDecl *F = E->getDirectCallee();
    return F && (isInteger(E) || holdsNone(E->getType())) &&
           AC.getSourceManager().isInSystemHeader(F->getLocation()) &&
           llvm::all_of(E->arguments(), isInteger);
  }
};

/// Finds products or quotients beside sums, and what may hold both, in the functions that
/// are called, too: else all is arithmetic of integers, copies, choices, and sums or
/// products of floating-point numbers.
class Products : public ConstDynamicRecursiveASTVisitor {
public:
  explicit Products(const ASTContext &AC) : AC(AC) {}

  bool found() const { return Unknown || (Product && Sum); }

  bool VisitBinaryOperator(const BinaryOperator *E) override {
    if (isInteger(E) || E->getType()->isPointerType())
      return true;
    Product |= E->isMultiplicativeOp() || E->getOpcode() == BO_MulAssign ||
               E->getOpcode() == BO_DivAssign;
    Sum |= E->isAdditiveOp() || E->getOpcode() == BO_AddAssign ||
           E->getOpcode() == BO_SubAssign;
    return !found();
  }
  bool VisitUnaryOperator(const UnaryOperator *E) override {
    Sum |= E->isIncrementDecrementOp() && !isInteger(E) && !E->getType()->isPointerType();
    return !found();
  }
  bool VisitCallExpr(const CallExpr *E) override {
    const FunctionDecl *F = E->getDirectCallee();
    const auto *Member = dyn_cast<CXXMemberCallExpr>(E);
    const bool OfNone =
        holdsNone(E->getType()) &&
        (!Member || holdsNone(Member->getObjectType())) &&
        llvm::all_of(E->arguments(),
                     [](const Expr *A) { return holdsNone(A->getType()); });
    const bool Users =
        F && F->hasBody() && !AC.getSourceManager().isInSystemHeader(F->getLocation());
    if (Users)
      follow(*F);
    else
      Unknown |= !OfNone && (!F || (!chooses(*F) && !waits(*F, E)));
    return !found();
  }
  bool VisitCXXConstructExpr(const CXXConstructExpr *E) override {
    const CXXConstructorDecl &C = *E->getConstructor();
    if (!C.isTrivial() && !holdsNone(E->getType()))
      follow(C);
    return !found();
  }
  bool VisitAsmStmt(const AsmStmt *) override { return !(Unknown = true); }

private:
  const ASTContext &AC;
  llvm::SmallPtrSet<const FunctionDecl *, 8> Followed;
  bool Unknown = false, Product = false, Sum = false;

  void follow(const FunctionDecl &F) {
    const FunctionDecl *Def = nullptr;
    if (!F.hasBody(Def)) {
      Unknown |= !F.isDefaulted();
      return;
    }
    if (!Followed.insert(Def).second)
      return;
    TraverseStmt(Def->getBody());
    if (auto *C = dyn_cast<CXXConstructorDecl>(Def))
      for (const CXXCtorInitializer *I : C->inits())
        TraverseStmt(I->getInit());
  }

  /// Barriers, and what tells which threads meet there.
  static bool waits(const FunctionDecl &F, const CallExpr *E) {
    switch (classifyCall(&F, E).Kind) {
    case CallKind::Barrier:
    case CallKind::GroupBarrier:
    case CallKind::WarpBarrier:
    case CallKind::BlockGroup:
      return true;
    default:
      return false;
    }
  }

  /// The library's functions that give back one of their arguments, or its size, or say
  /// what they round.
  static bool chooses(const FunctionDecl &F) {
    return F.getDeclName().isIdentifier() &&
           (passesOn(F.getName()) ||
            llvm::is_contained({"abs", "__fmul_rn", "__dmul_rn"}, F.getName()));
  }
};

} // namespace

bool multipliesNumbers(const clang::Stmt *Body, const ASTContext &AC) {
  Products V(AC);
  V.TraverseStmt(Body);
  return V.found();
}

NamesForNumbers namesForNumbers(const clang::Stmt *Body, const ASTContext &AC) {
  Names V(AC, multipliesNumbers(Body, AC));
  V.TraverseStmt(Body);
  return std::move(V.Found);
}

} // namespace rcache
