// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See WantedCalls.h.

#include "WantedCalls.h"
#include "BuiltinVars.h"
#include "Effects.h"
#include "KernelWriter.h"
#include "LaunchSites.h"
#include "Locals.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"

using namespace clang;

namespace rcache {
namespace {

bool isSharedDecl(const ValueDecl *D) {
  return D->hasAttr<CUDASharedAttr>();
}

/// Looks at the thread, shares or waits, itself or in what it calls.
class BodyUses : public ConstDynamicRecursiveASTVisitor {
public:
  bool Found = false;
  void look(const FunctionDecl *F) {
    F = bodyOf(F);
    if (F && Seen.insert(F).second)
      TraverseStmt(F->getBody());
  }
  bool TraversePseudoObjectExpr(const PseudoObjectExpr *E) override {
    Found |= builtinVar(E).has_value();
    return true;
  }
  bool VisitDeclRefExpr(const DeclRefExpr *E) override {
    Found |= isSharedDecl(E->getDecl()) || builtinVar(E);
    return true;
  }
  bool VisitCallExpr(const CallExpr *C) override {
    const FunctionDecl *F = C->getDirectCallee();
    if (!F)
      return true;
    switch (classifyCall(F, C).Kind) {
    case CallKind::Barrier:
    case CallKind::BarrierReduce:
    case CallKind::GroupBarrier:
    case CallKind::WarpBarrier:
    case CallKind::BlockGroup:
      Found = true;
      break;
    default:
      if (!isSystemFunction(F))
        look(F);
    }
    return true;
  }

private:
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
};

/// A pointer or array that leads to a shared array.
bool refersShared(const Expr *E, unsigned Depth = 0) {
  E = E->IgnoreParenCasts();
  if (auto *M = dyn_cast<MaterializeTemporaryExpr>(E))
    return refersShared(M->getSubExpr(), Depth);
  if (auto *U = dyn_cast<UnaryOperator>(E); U && U->getOpcode() == UO_AddrOf) {
    E = U->getSubExpr()->IgnoreParens();
    if (auto *A = dyn_cast<ArraySubscriptExpr>(E))
      E = A->getBase()->IgnoreParenCasts();
  }
  if (auto *B = dyn_cast<BinaryOperator>(E); B && B->isAdditiveOp())
    return refersShared(B->getLHS(), Depth) ||
           refersShared(B->getRHS(), Depth);
  if (auto *A = dyn_cast<ArraySubscriptExpr>(E))
    return A->getType()->isArrayType() && refersShared(A->getBase(), Depth);
  auto *R = dyn_cast<DeclRefExpr>(E);
  if (!R)
    return false;
  if (isSharedDecl(R->getDecl()))
    return true;
  auto *V = dyn_cast<VarDecl>(R->getDecl());
  return V && V->isLocalVarDecl() && V->getInit() && Depth < 4 &&
         (V->getType()->isPointerType() || V->getType()->isReferenceType()) &&
         refersShared(V->getInit(), Depth + 1);
}

/// Does the call itself round what goes in and comes out of \p F? Written out, a product
/// could be a part of a sum.
bool isRoundedApart(const FunctionDecl *F) {
  const auto MayBeReal = [](QualType T) {
    T = T.getNonReferenceType();
    return !T->isVoidType() && !T->isIntegralOrEnumerationType() && !T->isAnyPointerType();
  };
  return F->hasAttr<NoInlineAttr>() &&
         (computesNumbers(F) || MayBeReal(F->getReturnType()) ||
          llvm::any_of(F->parameters(),
                       [&](const ParmVarDecl *P) { return MayBeReal(P->getType()); }));
}

/// Is \p T, or what it refers to, a plain struct with a pointer in it?
bool holdsPointer(QualType T) {
  const CXXRecordDecl *R = T.getNonReferenceType()->getAsCXXRecordDecl();
  return R && R->hasDefinition() && R->isTrivial() && !R->isUnion() &&
         llvm::any_of(R->getDefinition()->fields(), [](const FieldDecl *F) {
           return F->getType()->isPointerType();
         });
}

/// A variable by name, or a copy of it that is passed.
bool namesVariable(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (auto *Copy = dyn_cast<CXXConstructExpr>(E); Copy && Copy->getNumArgs() == 1)
    E = Copy->getArg(0)->IgnoreParenImpCasts();
  return isa<DeclRefExpr>(E);
}

bool ownsShared(const FunctionDecl *F) {
  struct Finder : ConstDynamicRecursiveASTVisitor {
    bool Found = false;
    bool VisitVarDecl(const VarDecl *V) override {
      Found |= isSharedDecl(V);
      return !Found;
    }
  } X;
  X.TraverseStmt(F->getBody());
  return X.Found;
}

} // namespace

const LambdaExpr *lambdaOf(const VarDecl *V) {
  const Expr *E = V->getInit();
  while (E) {
    E = E->IgnoreImplicit()->IgnoreParens();
    if (auto *C = dyn_cast<CXXConstructExpr>(E); C && C->getNumArgs() == 1)
      E = C->getArg(0);
    else
      break;
  }
  return dyn_cast_or_null<LambdaExpr>(E);
}

/// Does \p E name a private array of the kernel, all of it?
bool WantedCalls::isHanded(const Expr *E) const {
  const auto *R = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  const auto *V = R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
  return V && V->hasLocalStorage() && V->getType()->isConstantArrayType() &&
         llvm::any_of(M.Privates, [&](const PrivateArray &A) {
           return A.Handed && M.Vars[A.Var].Name == V->getName();
         });
}

/// Does \p C hide what is shared, which global memory is read, or which elements of a
/// private array are used?
bool WantedCalls::hides(const CallToWrite &C) const {
  const FunctionDecl *F = C.Call->getDirectCallee();
  BodyUses Uses;
  Uses.look(F);
  if (Uses.Found)
    return true;
  for (unsigned I = 0; I < C.Call->getNumArgs() && I < F->getNumParams(); ++I) {
    const QualType T = F->getParamDecl(I)->getType();
    const Expr *A = C.Call->getArg(I);
    // `element(m, row, col)`: what is read or set through the struct's pointer.
    if (holdsPointer(T) && namesVariable(A))
      return true;
    const bool Leads =
        T->isPointerType() ||
        (T->isReferenceType() && (T->getPointeeType()->isArrayType() ||
                                  T->getPointeeType()->isPointerType()));
    if (Leads && (refersShared(A) || (Which == CallsToWrite::Private && isHanded(A))))
      return true;
    // `load(a, g, n)`: what it reads becomes visible.
    if (T->isPointerType() && calleeAsExpression(C, Scope, PP))
      return true;
  }
  return Which == CallsToWrite::Numeric && computesNumbers(F);
}

std::optional<CallToWrite> WantedCalls::ofLambda(const CXXOperatorCallExpr *E,
                                                 CallToWrite C) const {
  auto *Method = dyn_cast<CXXMethodDecl>(E->getDirectCallee());
  if (E->getOperator() != OO_Call || !Method || !Method->getParent()->isLambda())
    return std::nullopt;
  auto *R = dyn_cast<DeclRefExpr>(E->getArg(0)->IgnoreParenImpCasts());
  auto *V = R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
  C.Lambda = V ? lambdaOf(V) : nullptr;
  if (!C.Lambda || !capturesFit(C.Lambda))
    return std::nullopt;
  return C;
}

std::optional<CallToWrite> WantedCalls::of(const CallExpr *E) const {
  CallToWrite C;
  C.Call = E;
  const FunctionDecl *F = E->getDirectCallee();
  if (!F || isa<CUDAKernelCallExpr>(E))
    return std::nullopt;
  C.Callee = bodyOf(F);
  // Shared arrays of its own would be several arrays.
  if (!C.Callee || isSystemFunction(F) || isRoundedApart(F) ||
      (ownsShared(C.Callee) && !Reached.isOnlyOne(C.Callee)))
    return std::nullopt;
  if (auto *Op = dyn_cast<CXXOperatorCallExpr>(E))
    return ofLambda(Op, C);
  if (const auto *Method = dyn_cast<CXXMethodDecl>(F);
      Method && !(Method->isStatic() && isa<DeclRefExpr>(E->getCallee()->IgnoreParenImpCasts())))
    return std::nullopt;
  if (F->hasAttr<CUDAGlobalAttr>() || sharedAccessor(F))
    return std::nullopt;
  return hides(C) ? std::optional(C) : std::nullopt;
}

/// What a lambda copies must not change between its making and its call.
bool WantedCalls::capturesFit(const LambdaExpr *L) const {
  for (const LambdaCapture &Cap : L->captures()) {
    if (!Cap.capturesVariable() || L->isInitCapture(&Cap))
      return false;
    if (Cap.getCaptureKind() != LCK_ByCopy)
      continue;
    auto *V = dyn_cast<VarDecl>(Cap.getCapturedVar());
    if (!V)
      return false;
    if (V->getType().isConstQualified())
      continue;
    for (const Var &X : M.Vars)
      if (X.Name == V->getName() && (X.Assigned || X.AddressTaken))
        return false;
  }
  return !L->isMutable();
}

} // namespace rcache
