// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lvalues and pointers as syntax: which variables they stand in.

#include "Locals.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace rcache {

const VarDecl *rootVariable(const Expr *E) {
  while (E) {
    E = E->IgnoreParenImpCasts();
    if (auto *D = dyn_cast<DeclRefExpr>(E))
      return dyn_cast<VarDecl>(D->getDecl());
    if (auto *Mem = dyn_cast<MemberExpr>(E)) {
      if (Mem->isArrow())
        return nullptr;
      E = Mem->getBase();
    } else if (auto *A = dyn_cast<ArraySubscriptExpr>(E)) {
      // Only through arrays; `p[i]` is memory, not p.
      const Expr *B = A->getBase()->IgnoreParenImpCasts();
      if (!B->getType()->isArrayType())
        return nullptr;
      E = B;
    } else {
      return nullptr;
    }
  }
  return nullptr;
}

static void follow(const Expr *E, bool Pointee, Places &P, unsigned Depth) {
  if (!E || Depth > 32) {
    P.Memory = true;
    return;
  }
  ++Depth;
  E = E->IgnoreParens();
  if (auto *C = dyn_cast<CastExpr>(E)) {
    if (C->getCastKind() == CK_ArrayToPointerDecay)
      return follow(C->getSubExpr(), false, P, Depth);
    if (C->getCastKind() == CK_LValueToRValue) { // a pointer that is kept
      P.Memory = true;
      return;
    }
    return follow(C->getSubExpr(), Pointee, P, Depth);
  }
  if (auto *F = dyn_cast<FullExpr>(E))
    return follow(F->getSubExpr(), Pointee, P, Depth);
  if (isa<MaterializeTemporaryExpr>(E))
    return; // nobody else's
  if (auto *C = dyn_cast<AbstractConditionalOperator>(E)) {
    follow(C->getTrueExpr(), Pointee, P, Depth);
    return follow(C->getFalseExpr(), Pointee, P, Depth);
  }
  if (auto *B = dyn_cast<BinaryOperator>(E)) {
    if (B->getOpcode() == BO_Comma)
      return follow(B->getRHS(), Pointee, P, Depth);
    if (B->isAssignmentOp() && !Pointee)
      return follow(B->getLHS(), false, P, Depth);
    if (Pointee && B->isAdditiveOp())
      return follow(B->getLHS()->getType()->isPointerType() ? B->getLHS()
                                                            : B->getRHS(),
                    true, P, Depth);
  }
  if (auto *U = dyn_cast<UnaryOperator>(E)) {
    if (Pointee && U->getOpcode() == UO_AddrOf)
      return follow(U->getSubExpr(), false, P, Depth);
    if (!Pointee && U->getOpcode() == UO_Deref)
      return follow(U->getSubExpr(), true, P, Depth);
    if (!Pointee && U->isPrefix() && U->isIncrementDecrementOp())
      return follow(U->getSubExpr(), false, P, Depth);
  }
  if (!Pointee) {
    if (auto *A = dyn_cast<ArraySubscriptExpr>(E))
      return follow(A->getBase(), true, P, Depth);
    if (auto *Mem = dyn_cast<MemberExpr>(E))
      return follow(Mem->getBase(), Mem->isArrow(), P, Depth);
    if (auto *R = dyn_cast<DeclRefExpr>(E))
      if (auto *V = dyn_cast<VarDecl>(R->getDecl());
          V && !V->getType()->isReferenceType()) {
        P.Vars.push_back(V);
        return;
      }
    // An operator of a class that hands its object on: `(v = w) += x`.
    if (auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
        Op && Op->getNumArgs() && E->isGLValue()) {
      // (One that is const gives away nothing of its object: those with mutable members,
      // and functions that cast const away, are obstacles.)
      const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Op->getDirectCallee());
      if (!Method || !Method->isInstance() || !Method->isConst())
        follow(Op->getArg(0), false, P, Depth);
      P.Memory = true;
      return;
    }
  }
  P.Memory = true;
}

Places placesOf(const Expr *E, bool Pointee) {
  Places P;
  follow(E, Pointee, P, 0);
  return P;
}

bool handsOut(QualType Param) {
  return (Param->isLValueReferenceType() || Param->isPointerType()) &&
         !Param->getPointeeType().isConstQualified() &&
         !Param->getPointeeType()->isFunctionType();
}

void Locals::assignedIn(const clang::Stmt *S,
                        llvm::SmallPtrSetImpl<const VarDecl *> &Vars) const {
  if (!S)
    return;
  auto Add = [&](const Expr *E) {
    const VarDecl *Root = rootVariable(E);
    if (varIndex(Root) >= 0)
      Vars.insert(Root);
  };
  auto AddAddressTaken = [&] {
    for (auto &[V, I] : VarIndex)
      if (M.Vars[I].AddressTaken)
        Vars.insert(V);
  };
  if (auto *B = dyn_cast<BinaryOperator>(S); B && B->isAssignmentOp())
    rootVariable(B->getLHS()) ? Add(B->getLHS()) : AddAddressTaken();
  if (auto *U = dyn_cast<UnaryOperator>(S); U && U->isIncrementDecrementOp())
    rootVariable(U->getSubExpr()) ? Add(U->getSubExpr()) : AddAddressTaken();
  if (auto *Op = dyn_cast<CXXOperatorCallExpr>(S); Op && Op->getNumArgs())
    Add(Op->getArg(0));
  if (auto *Mc = dyn_cast<CXXMemberCallExpr>(S))
    if (Mc->getMethodDecl() && !Mc->getMethodDecl()->isConst())
      Add(Mc->getImplicitObjectArgument());
  if (isa<CallExpr>(S) || isa<CXXConstructExpr>(S) || isa<AsmStmt>(S) ||
      isa<LambdaExpr>(S))
    AddAddressTaken();
  if (auto *A = dyn_cast<GCCAsmStmt>(S))
    for (unsigned I = 0; I < A->getNumOutputs(); ++I)
      Add(A->getOutputExpr(I));
  if (auto *D = dyn_cast<DeclStmt>(S)) {
    for (const Decl *X : D->decls())
      if (auto *V = dyn_cast<VarDecl>(X)) {
        // A reference lets its target change under another name.
        if (V->getInit())
          assignedIn(V->getInit(), Vars);
      }
    return;
  }
  for (const clang::Stmt *C : S->children())
    assignedIn(C, Vars);
}

} // namespace rcache
