// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See NamesBehind.h. Each name is looked up once more in the scopes around, as they are
// at the end of the file; what stands between the two places was not there before.

#include "NamesBehind.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/SetVector.h"

using namespace clang;

namespace rcache {
namespace {

class Names : public ConstDynamicRecursiveASTVisitor {
public:
  Names(const FunctionDecl *F, const FunctionDecl *Where, SourceLocation To)
      : AC(F->getASTContext()), SM(AC.getSourceManager()), Where(Where),
        From(SM.getExpansionLoc(F->getEndLoc())), To(To) {}

  std::optional<std::string> Other;

  bool VisitCallExpr(const CallExpr *C) override {
    const auto *E = dyn_cast<DeclRefExpr>(C->getCallee()->IgnoreParenImpCasts());
    const auto *F = E ? dyn_cast<FunctionDecl>(E->getDecl()) : nullptr;
    if (!F)
      return true;
    Called = E;
    Settled = isSettled(*C, *F);
    Around.clear();
    for (const Expr *A : C->arguments())
      if (const auto *R = A->getType().getNonReferenceType()->getAsCXXRecordDecl())
        Around.insert(R->getEnclosingNamespaceContext());
    found(F, E->getFoundDecl());
    return !Other;
  }
  bool VisitDeclRefExpr(const DeclRefExpr *E) override {
    if (E == Called)
      return true;
    Settled = false;
    Around.clear();
    found(E->getDecl(), E->getFoundDecl());
    return !Other;
  }
  bool VisitTypeLoc(TypeLoc L) override {
    Settled = false;
    Around.clear();
    const QualType T = L.getType();
    if (const auto *D = T->getAs<TypedefType>())
      found(D->getDecl(), D->getDecl());
    if (const TagDecl *D = T->getAsTagDecl())
      found(D, D);
    return !Other;
  }

private:
  const ASTContext &AC;
  const SourceManager &SM;
  const FunctionDecl *const Where;
  const SourceLocation From, To;
  const DeclRefExpr *Called = nullptr;
  bool Settled = false; ///< of the call that is looked at
  llvm::SmallSetVector<const DeclContext *, 4> Around; ///< of its arguments

  /// Has each argument the type of its parameter, so that no overload can be better?
  bool isSettled(const CallExpr &C, const FunctionDecl &F) const {
    if (F.isVariadic() || F.getPrimaryTemplate() || isa<CXXMethodDecl>(F) ||
        F.getNumParams() != C.getNumArgs())
      return false;
    for (unsigned I = 0; I < C.getNumArgs(); ++I) {
      const QualType P = F.getParamDecl(I)->getType();
      const QualType A = given(C.getArg(I));
      if (P->isReferenceType() || A.isNull() || !AC.hasSameUnqualifiedType(P, A))
        return false;
    }
    return true;
  }

  /// The type of an argument that is passed as it is; null: it is converted.
  QualType given(const Expr *A) const {
    for (;;) {
      A = A->IgnoreParens();
      if (const auto *Full = dyn_cast<FullExpr>(A))
        A = Full->getSubExpr();
      else if (const auto *Made = dyn_cast<MaterializeTemporaryExpr>(A))
        A = Made->getSubExpr();
      else if (const auto *Bound = dyn_cast<CXXBindTemporaryExpr>(A))
        A = Bound->getSubExpr();
      else if (const auto *Copy = dyn_cast<CXXConstructExpr>(A);
               Copy && Copy->getNumArgs() == 1 &&
               Copy->getConstructor()->isCopyOrMoveConstructor())
        A = Copy->getArg(0);
      else if (const auto *Cast = dyn_cast<ImplicitCastExpr>(A)) {
        const CastKind K = Cast->getCastKind();
        if (K != CK_LValueToRValue && K != CK_NoOp && K != CK_ArrayToPointerDecay &&
            K != CK_FunctionToPointerDecay)
          return QualType();
        A = Cast->getSubExpr();
      } else
        break;
    }
    const QualType T = A->getType();
    return T->isArrayType() ? AC.getArrayDecayedType(T) : T;
  }

  static const NamedDecl *canonical(const NamedDecl *D) {
    D = D->getUnderlyingDecl();
    if (const auto *F = dyn_cast<FunctionDecl>(D)) {
      if (const FunctionTemplateDecl *T = F->getPrimaryTemplate())
        return cast<NamedDecl>(T->getCanonicalDecl());
      if (const FunctionTemplateDecl *T = F->getDescribedFunctionTemplate())
        return cast<NamedDecl>(T->getCanonicalDecl());
    }
    if (const auto *C = dyn_cast<ClassTemplateSpecializationDecl>(D))
      D = C->getSpecializedTemplate();
    else if (const auto *R = dyn_cast<CXXRecordDecl>(D); R && R->getDescribedClassTemplate())
      D = R->getDescribedClassTemplate();
    return cast<NamedDecl>(D->getCanonicalDecl());
  }

  bool isBetween(const Decl *D) const {
    const SourceLocation At = SM.getExpansionLoc(D->getCanonicalDecl()->getLocation());
    return At.isValid() && SM.isBeforeInTranslationUnit(From, At) &&
           SM.isBeforeInTranslationUnit(At, To);
  }

  static bool isFunction(const NamedDecl *D) {
    return isa<FunctionDecl, FunctionTemplateDecl>(D->getUnderlyingDecl());
  }

  /// The text names \p D, which lookup finds as \p As.
  void found(const NamedDecl *D, const NamedDecl *As) {
    const DeclContext *Home = As->getDeclContext()->getRedeclContext();
    if (!Home->isFileContext() || Other)
      return;
    llvm::SmallSetVector<const DeclContext *, 8> Scopes;
    Scopes.insert(Home);
    for (const DeclContext *C = Where->getDeclContext()->getRedeclContext(); C;
         C = C->getParent())
      Scopes.insert(C->getPrimaryContext());
    for (const DeclContext *C : Around)
      Scopes.insert(C);
    for (const DeclContext *C : Scopes) {
      for (const NamedDecl *X : C->lookup(D->getDeclName()))
        if (isBetween(X) && isAnother(X, D, C == Home))
          return tell(D);
      if (C->isFileContext())
        for (const UsingDirectiveDecl *U : C->using_directives())
          if (isBetween(U))
            for (const NamedDecl *X : U->getNominatedNamespace()->lookup(D->getDeclName()))
              if (isAnother(X, D, /*Beside=*/true))
                return tell(D);
    }
  }

  /// \p Beside: lookup finds both, and the arguments decide.
  bool isAnother(const NamedDecl *X, const NamedDecl *D, bool Beside) const {
    return canonical(X) != canonical(D) &&
           !(Beside && Settled && isFunction(X) && isFunction(D));
  }

  void tell(const NamedDecl *D) { Other = D->getDeclName().getAsString(); }
};

} // namespace

std::optional<std::string> nameOfAnother(const FunctionDecl *F, const FunctionDecl *Where,
                                         SourceLocation To) {
  Names N(F, Where, To);
  N.TraverseDecl(const_cast<FunctionDecl *>(F));
  return N.Other;
}

bool meansTheSame(const Expr *Default, llvm::function_ref<bool(StringRef)> Hidden) {
  if (const auto *R = dyn_cast<DeclRefExpr>(Default)) {
    const NamedDecl *D = R->getDecl();
    return D->getIdentifier() && D->getDeclContext()->getRedeclContext()->isTranslationUnit() &&
           !R->hasQualifier() && !Hidden(D->getName());
  }
  if (const auto *C = dyn_cast<ExplicitCastExpr>(Default);
      C && !C->getTypeAsWritten()->isBuiltinType())
    return false;
  if (!isa<IntegerLiteral, FloatingLiteral, CXXBoolLiteralExpr, CharacterLiteral, ParenExpr,
           CastExpr, UnaryOperator, BinaryOperator, FullExpr, MaterializeTemporaryExpr>(Default))
    return false;
  return llvm::all_of(Default->children(), [&](const clang::Stmt *S) {
    return meansTheSame(cast<Expr>(S), Hidden);
  });
}

bool isMadeOfNothing(const Expr *Default, llvm::function_ref<bool(StringRef)> Hidden) {
  const auto *Made = dyn_cast<CXXConstructExpr>(Default->IgnoreImplicit()->IgnoreParenCasts());
  const CXXRecordDecl *Of = Made ? Made->getType()->getAsCXXRecordDecl() : nullptr;
  return Of && Made->getNumArgs() == 0 && Of->isEmpty() && Of->getIdentifier() &&
         !Hidden(Of->getName());
}

} // namespace rcache
