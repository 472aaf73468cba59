// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StoredProducts.h.

#include "StoredProducts.h"
#include "BuiltinVars.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/Sequence.h"

using namespace clang;

namespace rcache {

bool holdsFloats(QualType T) {
  T = QualType(T->getBaseElementTypeUnsafe(), 0);
  if (const RecordDecl *R = T->getAsRecordDecl())
    return llvm::any_of(R->fields(), [](const FieldDecl *F) {
      return holdsFloats(F->getType());
    });
  return T->isFloatingType();
}

StoredProducts::StoredProducts(const FunctionDecl *FD, const KernelModel &M,
                               const Locals &L)
    : M(M), L(L) {
  struct Assignments : ConstDynamicRecursiveASTVisitor {
    StoredProducts *Into;
    bool VisitVarDecl(const VarDecl *V) override {
      if (V->getInit())
        Into->Values[V].push_back(V->getInit());
      return true;
    }
    bool VisitBinaryOperator(const BinaryOperator *E) override {
      if (!E->isAssignmentOp())
        return true;
      if (const VarDecl *V = rootVariable(E->getLHS()))
        if (E->getOpcode() != BO_AddAssign && E->getOpcode() != BO_SubAssign)
          Into->Values[V].push_back(E->getOpcode() == BO_Assign ? E->getRHS()
                                                                : nullptr);
      return true;
    }
    bool VisitCXXOperatorCallExpr(const CXXOperatorCallExpr *E) override {
      if (E->isAssignmentOp())
        if (const VarDecl *V = rootVariable(E->getArg(0)))
          Into->Values[V].push_back(E->getOperator() == OO_Equal ? E->getArg(1)
                                                                 : nullptr);
      return true;
    }
  } Find;
  Find.Into = this;
  Find.TraverseStmt(FD->getBody());
}

/// May something else than its name lead to variable \p I? An element by reference is
/// another name of the same.
bool StoredProducts::hasPointers(unsigned I) const {
  return M.Vars[I].AddressTaken && llvm::none_of(M.Privates, [&](const PrivateArray &A) {
           return A.Var == I && (!A.Stays || A.Stays->Code != DeclineCode::PrivateUse);
         });
}

bool StoredProducts::mayBe(const Expr *Stored) const {
  llvm::SmallPtrSet<const VarDecl *, 8> Seen;
  return follow(Stored, Seen);
}

/// A parameter, or a variable all of whose values are none.
bool StoredProducts::ofVariable(
    const VarDecl *V, llvm::SmallPtrSetImpl<const VarDecl *> &Seen) const {
  const int I = L.varIndex(V);
  if (I < 0)
    return V->hasLocalStorage();
  if (M.Vars[I].IsParam && !M.Vars[I].Assigned)
    return false;
  if (hasPointers(static_cast<unsigned>(I)) || V->getType()->isReferenceType())
    return true;
  if (!Seen.insert(V).second)
    return false;
  auto Of = Values.find(V);
  return Of != Values.end() && llvm::any_of(Of->second, [&](const Expr *E) {
           return !E || follow(E, Seen);
         });
}

bool StoredProducts::ofCall(
    const CallExpr *E, llvm::SmallPtrSetImpl<const VarDecl *> &Seen) const {
  const FunctionDecl *F = E->getDirectCallee();
  if (!F || !F->getIdentifier())
    return true;
  const StringRef Name = F->getName();
  for (StringRef Rounds : {"__fmul_rn", "__dmul_rn", "__fadd_rn", "__dadd_rn",
                           "__fmaf_rn", "__fma_rn", "fmaf", "fma", "__ldg"})
    if (Name == Rounds)
      return false;
  for (StringRef Passes :
       {"fminf", "fmaxf", "fmin", "fmax", "min", "max", "fabsf", "fabs",
        "floorf", "ceilf", "truncf", "rintf", "floor", "ceil", "trunc", "rint"})
    if (Name == Passes || Name.starts_with("make_"))
      return llvm::any_of(E->arguments(),
                          [&](const Expr *A) { return follow(A, Seen); });
  return true;
}

bool StoredProducts::follow(
    const Expr *E, llvm::SmallPtrSetImpl<const VarDecl *> &Seen) const {
  E = E->IgnoreParens();
  if (!holdsFloats(E->getType()))
    return false;
  if (auto *Full = dyn_cast<FullExpr>(E))
    return follow(Full->getSubExpr(), Seen);
  if (auto *Temporary = dyn_cast<MaterializeTemporaryExpr>(E))
    return follow(Temporary->getSubExpr(), Seen);
  if (auto *Cast = dyn_cast<CastExpr>(E)) {
    if (Cast->getCastKind() == CK_IntegralToFloating)
      return false;
    return follow(Cast->getSubExpr(), Seen);
  }
  if (isa<FloatingLiteral>(E) || isa<IntegerLiteral>(E) ||
      isa<CXXScalarValueInitExpr>(E))
    return false;
  if (auto *B = dyn_cast<BinaryOperator>(E)) {
    const bool Sum = B->getOpcode() == BO_Add || B->getOpcode() == BO_Sub;
    // With a constant beside it a sum may be no sum.
    if (Sum && !isa<FloatingLiteral>(B->getLHS()->IgnoreParenImpCasts()) &&
        !isa<FloatingLiteral>(B->getRHS()->IgnoreParenImpCasts()))
      return false;
    return !(Sum || B->getOpcode() == BO_Assign) ||
           (Sum && follow(B->getLHS(), Seen)) || follow(B->getRHS(), Seen);
  }
  if (auto *U = dyn_cast<UnaryOperator>(E)) {
    if (U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus)
      return follow(U->getSubExpr(), Seen);
    if (U->getOpcode() != UO_Deref)
      return true;
  }
  if (auto *C = dyn_cast<ConditionalOperator>(E))
    return follow(C->getTrueExpr(), Seen) || follow(C->getFalseExpr(), Seen);
  if (auto *Call = dyn_cast<CallExpr>(E))
    return ofCall(Call, Seen);
  if (auto *List = dyn_cast<InitListExpr>(E))
    return llvm::any_of(List->inits(),
                        [&](const Expr *X) { return follow(X, Seen); });
  if (auto *Made = dyn_cast<CXXConstructExpr>(E))
    return !Made->getConstructor()->isTrivial() ||
           llvm::any_of(Made->arguments(),
                        [&](const Expr *X) { return follow(X, Seen); });
  if (isa<ImplicitValueInitExpr>(E))
    return false;
  if (auto *R = dyn_cast<DeclRefExpr>(E)) {
    auto *V = dyn_cast<VarDecl>(R->getDecl());
    return !V || ofVariable(V, Seen);
  }
  if (isa<ArraySubscriptExpr>(E) || isa<MemberExpr>(E) ||
      isa<UnaryOperator>(E)) {
    // Memory rounds; a local array or struct need not be in memory, nor what a
    // pointer to a local variable leads to.
    if (const VarDecl *V = rootVariable(E))
      return V->hasLocalStorage() && !isSharedVar(V) && ofVariable(V, Seen);
    return llvm::any_of(llvm::seq<unsigned>(0, static_cast<unsigned>(M.Vars.size())),
                        [&](unsigned I) { return hasPointers(I); });
  }
  return true;
}

} // namespace rcache
