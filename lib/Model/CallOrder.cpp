// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CallOrder.h.

#include "CallOrder.h"
#include "BuiltinVars.h"
#include "Effects.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace rcache {

const VarDecl *namedBy(const Expr *E) {
  while (E) {
    E = E->IgnoreParenCasts();
    if (const auto *R = dyn_cast<DeclRefExpr>(E))
      return dyn_cast<VarDecl>(R->getDecl());
    if (const auto *Member = dyn_cast<MemberExpr>(E))
      E = Member->getBase();
    else if (const auto *S = dyn_cast<ArraySubscriptExpr>(E))
      E = S->getBase();
    else if (const auto *U = dyn_cast<UnaryOperator>(E);
             U && (U->getOpcode() == UO_Deref || U->getOpcode() == UO_AddrOf))
      E = U->getSubExpr();
    else if (const auto *B = dyn_cast<BinaryOperator>(E); B && B->isAdditiveOp())
      E = B->getLHS()->getType()->isPointerType() || B->getLHS()->getType()->isArrayType()
              ? B->getLHS()
              : B->getRHS();
    else
      return nullptr;
  }
  return nullptr;
}

namespace {

constexpr unsigned MaxDepth = 5;

/// Collects what a body sets, in the words of the body.
class Sets : public ConstDynamicRecursiveASTVisitor {
public:
  explicit Sets(unsigned Depth) : Depth(Depth) {}
  CallChanges Found;

  bool VisitBinaryOperator(const BinaryOperator *E) override {
    if (E->isAssignmentOp())
      set(E->getLHS());
    return true;
  }
  bool VisitUnaryOperator(const UnaryOperator *E) override {
    if (E->isIncrementDecrementOp())
      set(E->getSubExpr());
    return true;
  }
  bool VisitCallExpr(const CallExpr *E) override {
    const FunctionDecl *F = E->getDirectCallee(), *Def = nullptr;
    if (F && isPure(F))
      return true;
    const bool Seen = F && F->hasBody(Def) && !isSystemFunction(F) && Depth < MaxDepth;
    if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E); Op && Op->isAssignmentOp()) {
      set(Op->getArg(0));
    } else if (Seen && !isa<CXXMethodDecl>(F)) {
      add(changesOf(E, Def, Depth + 1));
    } else {
      // A barrier, an atomic, a method: what it gets by reference or pointer, at most.
      for (const Expr *A : E->arguments())
        if (A->isGLValue() || A->getType()->isPointerType())
          set(A);
      Found.Anything |= Seen || (F && !isSystemFunction(F)) || !F;
    }
    return true;
  }
  bool VisitCXXConstructExpr(const CXXConstructExpr *E) override {
    const CXXConstructorDecl *Made = E->getConstructor();
    Found.Anything |= !Made->isTrivial() && !isSystemFunction(Made) && Made->getNumParams() > 0;
    return true;
  }
  bool VisitGCCAsmStmt(const GCCAsmStmt *) override { return Found.Anything = true; }
  bool VisitLambdaExpr(const LambdaExpr *) override { return Found.Anything = true; }

  static CallChanges changesOf(const CallExpr *Call, const FunctionDecl *Def, unsigned Depth) {
    Sets In(Depth);
    In.TraverseStmt(Def->getBody());
    CallChanges Out;
    Out.Anything = In.Found.Anything;
    Out.Pointees = In.Found.Pointees;
    const unsigned First = isa<CXXOperatorCallExpr>(Call) ? 1 : 0; // a lambda's object
    for (const VarDecl *V : In.Found.Of) {
      const auto *P = dyn_cast<ParmVarDecl>(V);
      if (!P || P->getDeclContext() != Def) {
        // Its own variables are gone; those of a lambda's kernel, and of the file, are not.
        if (V->getDeclContext() != Def)
          Out.Of.insert(V);
        else if (!V->hasLocalStorage() || V->getType()->isPointerType() ||
                 V->getType()->isReferenceType())
          Out.Anything = true; // what a pointer of its own leads to
        continue;
      }
      if (!P->getType()->isPointerType() && !P->getType()->isReferenceType())
        continue;
      const unsigned I = P->getFunctionScopeIndex() + First;
      const VarDecl *Of = I < Call->getNumArgs() ? namedBy(Call->getArg(I)) : nullptr;
      if (!Of)
        Out.Anything = true;
      else if (leadsOn(Of))
        Out.Pointees = true;
      else
        Out.Of.insert(Of);
    }
    return Out;
  }

private:
  const unsigned Depth;

  /// Is \p V a name of something else that has one?
  static bool leadsOn(const VarDecl *V) {
    return !isa<ParmVarDecl>(V) &&
           (V->getType()->isPointerType() || V->getType()->isReferenceType());
  }

  void add(const CallChanges &More) {
    Found.Anything |= More.Anything;
    Found.Pointees |= More.Pointees;
    Found.Of.insert(More.Of.begin(), More.Of.end());
  }
  void set(const Expr *E) {
    if (const VarDecl *V = namedBy(E))
      Found.Of.insert(V);
    else
      Found.Anything = true;
  }
};

/// Is \p V, a variable of a function, read and set by its name alone, so that nothing can
/// lead to it?
bool isOnlyNamed(const VarDecl *V) {
  struct Finder : ConstDynamicRecursiveASTVisitor {
    const VarDecl *V;
    unsigned All = 0, Plain = 0;
    bool VisitDeclRefExpr(const DeclRefExpr *E) override {
      All += E->getDecl() == V;
      return true;
    }
    bool VisitImplicitCastExpr(const ImplicitCastExpr *E) override {
      if (E->getCastKind() == CK_LValueToRValue)
        count(E->getSubExpr());
      return true;
    }
    bool VisitBinaryOperator(const BinaryOperator *E) override {
      if (E->isAssignmentOp())
        count(E->getLHS());
      return true;
    }
    bool VisitUnaryOperator(const UnaryOperator *E) override {
      if (E->isIncrementDecrementOp())
        count(E->getSubExpr());
      return true;
    }
    bool VisitLambdaExpr(const LambdaExpr *) override {
      ++All; // by name or not, it may hold a reference
      return true;
    }
    void count(const Expr *E) {
      const auto *R = dyn_cast<DeclRefExpr>(E->IgnoreParens());
      Plain += R && R->getDecl() == V;
    }
  } X;
  const auto *F = dyn_cast<FunctionDecl>(V->getDeclContext());
  if (!F || !F->getBody() || !V->hasLocalStorage() || !V->getType()->isArithmeticType())
    return false;
  X.V = V;
  X.TraverseStmt(F->getBody());
  return X.All == X.Plain;
}

} // namespace

bool isApart(const clang::Stmt *E, const CallChanges &Changes) {
  if (!E)
    return true;
  if (const auto *P = dyn_cast<PseudoObjectExpr>(E); P && builtinVar(P))
    return true;
  if (const auto *Cast = dyn_cast<CastExpr>(E); Cast && Cast->getCastKind() == CK_LValueToRValue) {
    const VarDecl *V = namedBy(Cast->getSubExpr());
    if (!V || Changes.Anything || Changes.Of.contains(V) ||
        (Changes.Pointees && !isOnlyNamed(V)))
      return false;
    // What a reference or a pointer variable leads to may be what changes.
    if (!isa<ParmVarDecl>(V) && (V->getType()->isReferenceType() || V->getType()->isPointerType()))
      return false;
  } else if (const auto *Call = dyn_cast<CallExpr>(E)) {
    const FunctionDecl *F = Call->getDirectCallee();
    if (!F || !isPure(F) || !isSystemFunction(F))
      return false;
  } else if (const auto *U = dyn_cast<UnaryOperator>(E); U && U->isIncrementDecrementOp()) {
    return false;
  } else if (const auto *B = dyn_cast<BinaryOperator>(E); B && B->isAssignmentOp()) {
    return false;
  } else if (isa<CXXConstructExpr, LambdaExpr, StmtExpr>(E) &&
             !(isa<CXXConstructExpr>(E) &&
               cast<CXXConstructExpr>(E)->getConstructor()->isTrivial())) {
    return false;
  }
  return llvm::all_of(E->children(),
                      [&](const clang::Stmt *C) { return isApart(C, Changes); });
}

namespace {

bool holds(const clang::Stmt *E, const CallExpr *Call) {
  return E && (E == Call || llvm::any_of(E->children(), [&](const clang::Stmt *C) {
                 return holds(C, Call);
               }));
}

bool keeps(const clang::Stmt *E, const CallExpr *Call, const CallChanges &Changes) {
  if (E == Call)
    return true;
  const clang::Stmt *With = nullptr;
  for (const clang::Stmt *C : E->children())
    if (holds(C, Call))
      With = C;
  if (!With)
    return false;
  const auto *B = dyn_cast<BinaryOperator>(E);
  // The language has an order there that the text keeps.
  const bool Ordered = (B && (B->isLogicalOp() || B->getOpcode() == BO_Comma)) ||
                       isa<AbstractConditionalOperator>(E);
  if (!Ordered)
    for (const clang::Stmt *C : E->children())
      if (C && C != With && !isApart(C, Changes))
        return false;
  // `v += f(v)`: when v is read, nobody says.
  if (const auto *A = dyn_cast<CompoundAssignOperator>(E)) {
    const VarDecl *V = namedBy(A->getLHS());
    if (!V || Changes.Anything || Changes.Pointees || Changes.Of.contains(V))
      return false;
  }
  return keeps(With, Call, Changes);
}

} // namespace

CallChanges changesOf(const CallExpr *Call, const FunctionDecl *Callee) {
  return Sets::changesOf(Call, Callee, 0);
}

bool keepsOrder(const Expr *E, const CallExpr *Call, const CallChanges &Changes) {
  return Changes.nothing() || keeps(E, Call, Changes);
}

} // namespace rcache
