// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BindingDecides.h. All functions of the name count, whether they could be called or
// not.

#include "BindingDecides.h"
#include "Effects.h"
#include "Locals.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace rcache {
namespace {

/// The variable that \p E names, an element or a member of, or leads to; null: another.
const VarDecl *boundRoot(const Expr *E) {
  while (true) {
    E = E->IgnoreParenCasts();
    if (const auto *M = dyn_cast<MemberExpr>(E))
      E = M->getBase();
    else if (const auto *A = dyn_cast<ArraySubscriptExpr>(E))
      E = A->getBase();
    else if (const auto *T = dyn_cast<MaterializeTemporaryExpr>(E))
      E = T->getSubExpr();
    else if (const auto *U = dyn_cast<UnaryOperator>(E);
             U && (U->getOpcode() == UO_Deref || U->getOpcode() == UO_AddrOf))
      E = U->getSubExpr();
    else if (const auto *B = dyn_cast<BinaryOperator>(E); B && B->isAdditiveOp())
      E = B->getLHS()->getType()->isPointerType() ? B->getLHS() : B->getRHS();
    else
      break;
  }
  const auto *R = dyn_cast<DeclRefExpr>(E);
  return R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
}

/// Functions that have the name of \p F where it is declared.
std::vector<const FunctionDecl *> rivalsOf(const FunctionDecl *F) {
  std::vector<const FunctionDecl *> All;
  for (const NamedDecl *D : F->getDeclContext()->getRedeclContext()->lookup(F->getDeclName())) {
    D = D->getUnderlyingDecl();
    if (const auto *T = dyn_cast<FunctionTemplateDecl>(D))
      D = T->getTemplatedDecl();
    if (const auto *G = dyn_cast<FunctionDecl>(D))
      All.push_back(G);
  }
  return All;
}

class BindingFinder : public ConstDynamicRecursiveASTVisitor {
public:
  explicit BindingFinder(bool Kernel) : Kernel(Kernel) {}
  const FunctionDecl *Found = nullptr;

  bool VisitCallExpr(const CallExpr *E) override {
    const FunctionDecl *F = E->getDirectCallee();
    if (!F || F->isTrivial() || isSystemFunction(F))
      return true;
    const auto *Method = dyn_cast<CXXMethodDecl>(F);
    const bool OfObject = Method && !Method->isStatic();
    const unsigned First = OfObject && isa<CXXOperatorCallExpr>(E) ? 1 : 0;
    if (const auto *Member = dyn_cast<CXXMemberCallExpr>(E); Member && OfObject)
      object(Member->getImplicitObjectArgument(), Method);
    else if (First)
      object(E->getArg(0), Method);
    for (unsigned I = 0; I + First < E->getNumArgs(); ++I)
      argument(E->getArg(I + First), F, I);
    return !Found;
  }
  bool VisitCXXConstructExpr(const CXXConstructExpr *E) override {
    const CXXConstructorDecl *F = E->getConstructor();
    if (!F->isTrivial() && !isSystemFunction(F))
      for (unsigned I = 0; I < E->getNumArgs(); ++I)
        argument(E->getArg(I), F, I);
    return !Found;
  }

private:
  const bool Kernel;

  /// Is \p E written in the same words, of the same type, in another kernel?
  bool stays(const VarDecl *Root) const {
    return Root && ((Kernel && isa<ParmVarDecl>(Root)) ||
                    (Root->hasGlobalStorage() && !isSharedVar(Root)));
  }
  /// Is it written as an element, which may be a value by then?
  static bool isElement(const VarDecl *Root) {
    const QualType T = Root->getType();
    return isSharedVar(Root) || T->isReferenceType() || T->isPointerType() || T->isArrayType();
  }

  void object(const Expr *Of, const CXXMethodDecl *F) {
    QualType T = Of->getType();
    if (T->isPointerType())
      T = T->getPointeeType();
    if (T.isConstQualified() && !stays(boundRoot(Of)) &&
        llvm::any_of(rivalsOf(F), [](const FunctionDecl *G) {
          const auto *M = dyn_cast<CXXMethodDecl>(G);
          return M && !M->isStatic() && !M->isConst();
        }))
      Found = F;
  }

  void argument(const Expr *A, const FunctionDecl *F, unsigned I) {
    A = A->IgnoreParenImpCasts();
    const QualType T = A->getType();
    const bool IsConst = (A->isLValue() && T.isConstQualified()) ||
                         (T->isPointerType() && T->getPointeeType().isConstQualified()) ||
                         (T->isArrayType() && T->getAsArrayTypeUnsafe()->getElementType().isConstQualified());
    const VarDecl *Root = boundRoot(A);
    if (stays(Root) || (!IsConst && !(A->isLValue() && Root && isElement(Root))))
      return;
    for (const FunctionDecl *G : rivalsOf(F)) {
      if (I >= G->getNumParams())
        continue;
      const QualType P = G->getParamDecl(I)->getType();
      const bool OfConst = P->isLValueReferenceType() || P->isPointerType()
                               ? P->getPointeeType().isConstQualified()
                               : !(T->isPointerType() || T->isArrayType()) || !P->isDependentType();
      if ((IsConst && !OfConst) || P->isRValueReferenceType())
        Found = F;
    }
  }
};

} // namespace

const FunctionDecl *decidedByBinding(const clang::Stmt *S, bool Kernel) {
  BindingFinder F(Kernel);
  F.TraverseStmt(S);
  return F.Found;
}

} // namespace rcache
